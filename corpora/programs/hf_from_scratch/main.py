import random

import numpy as np
import torch
from torch.utils.data import Dataset

from configuration import TinyDebertaConfig
from modeling import TinyDebertaForSequenceClassification
from trainer import DataCollatorWithPadding, Trainer, TrainingArguments


def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


class Tokenizer:
    cls_token_id, sep_token_id = 1, 2

    def __init__(self, vocab_size):
        self.vocab_size = vocab_size

    def _ids(self, text):
        return [3 + sum(map(ord, w)) % (self.vocab_size - 3) for w in text.split()]

    def __call__(self, a, b, max_length=20):
        first, second = self._ids(a), self._ids(b)
        ids = [self.cls_token_id] + first + [self.sep_token_id] + second + [self.sep_token_id]
        types = [0] * (len(first) + 2) + [1] * (len(second) + 1)
        return {"input_ids": ids[:max_length], "token_type_ids": types[:max_length]}


class PairDataset(Dataset):
    WORDS = "the cat dog sat on a mat barks runs over hill under tree with no hat".split()

    def __init__(self, n, tokenizer):
        self.examples = []
        for i in range(n):
            a = " ".join(random.choices(self.WORDS, k=random.randint(3, 8)))
            label = i % 3
            b = a if label == 0 else " ".join(random.choices(self.WORDS, k=random.randint(2, 6)))
            self.examples.append({**tokenizer(a, b), "label": label})

    def __len__(self):
        return len(self.examples)

    def __getitem__(self, i):
        return self.examples[i]


def compute_metrics(p):
    preds = p.predictions[0] if isinstance(p.predictions, tuple) else p.predictions
    preds = np.argmax(preds, axis=1)
    return {"accuracy": (preds == p.label_ids).astype(np.float32).mean().item()}


def main():
    training_args = TrainingArguments(output_dir="/tmp/none", num_train_epochs=1)
    set_seed(training_args.seed)
    config = TinyDebertaConfig.from_dict({"hidden_size": 28, "num_labels": 3}, num_hidden_layers=2, hidden_act="relu")
    tokenizer = Tokenizer(config.vocab_size)
    model = TinyDebertaForSequenceClassification(config)
    trainer = Trainer(
        model=model,
        args=training_args,
        data_collator=DataCollatorWithPadding(config.pad_token_id, pad_to_multiple_of=4),
        train_dataset=PairDataset(16, tokenizer),
        eval_dataset=PairDataset(10, tokenizer),
        compute_metrics=compute_metrics,
    )
    metrics = trainer.train()
    print(metrics)
    inputs = DataCollatorWithPadding()([{**tokenizer("the cat", "a dog"), "label": 0}])
    inputs.pop("labels")
    out = model(**inputs, output_hidden_states=True)
    print(out.logits.softmax(-1), len(out.hidden_states), out[0].shape)
    print(config.to_json_string()[:40])


if __name__ == "__main__":
    main()
