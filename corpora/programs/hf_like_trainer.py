# Sentence-pair classification with a trainer class like Hugging Face's, on made-up token ids.
import math
import logging
from collections import OrderedDict
from dataclasses import dataclass, field, asdict
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple, Union

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, RandomSampler, SequentialSampler

logger = logging.getLogger(__name__)


class EvalPrediction(NamedTuple):
    predictions: np.ndarray
    label_ids: np.ndarray


class PredictionOutput(NamedTuple):
    predictions: np.ndarray
    label_ids: Optional[np.ndarray]
    metrics: Optional[Dict[str, float]]


@dataclass
class TrainingArguments:
    output_dir: str = field(metadata={"help": "where checkpoints go"})
    num_train_epochs: float = field(default=2.0)
    per_device_train_batch_size: int = field(default=6)
    per_device_eval_batch_size: int = 8
    gradient_accumulation_steps: int = 2
    learning_rate: float = 5e-4
    weight_decay: float = 0.01
    max_grad_norm: float = 1.0
    warmup_steps: int = 1
    seed: int = 42
    label_smoothing_factor: float = 0.1

    @property
    def train_batch_size(self) -> int:
        return self.per_device_train_batch_size * max(1, torch.cuda.device_count())

    @property
    def device(self) -> "torch.device":
        return torch.device("cuda:0" if torch.cuda.is_available() else "cpu")


class ModelOutput(OrderedDict):
    def __getitem__(self, k):
        if isinstance(k, str):
            inner_dict = dict(self.items())
            return inner_dict[k]
        return self.to_tuple()[k]

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name)

    def to_tuple(self) -> Tuple[Any]:
        return tuple(self[k] for k in self.keys())


class PairDataset(Dataset):
    def __init__(self, n, vocab, lengths, seed):
        rng = np.random.RandomState(seed)
        self.features = []
        for i in range(n):
            la, lb = lengths
            ids = [1] + rng.randint(5, vocab, la).tolist() + [2] + rng.randint(5, vocab, lb).tolist() + [2]
            self.features.append({"input_ids": ids, "token_type_ids": [0] * (la + 2) + [1] * (lb + 1),
                                  "attention_mask": [1] * len(ids), "label": i % 3})

    def __len__(self):
        return len(self.features)

    def __getitem__(self, i) -> Dict[str, Any]:
        return self.features[i]


def default_data_collator(features: List[Dict[str, Any]]) -> Dict[str, Any]:
    first = features[0]
    batch = {}
    if "label" in first and first["label"] is not None:
        label = first["label"].item() if isinstance(first["label"], torch.Tensor) else first["label"]
        dtype = torch.long if isinstance(label, int) else torch.float
        batch["labels"] = torch.tensor([f["label"] for f in features], dtype=dtype)
    for k, v in first.items():
        if k not in ("label", "label_ids") and v is not None and not isinstance(v, str):
            if isinstance(v, torch.Tensor):
                batch[k] = torch.stack([f[k] for f in features])
            else:
                batch[k] = torch.tensor([f[k] for f in features])
    return batch


class Encoder(nn.Module):
    def __init__(self, vocab_size=60, hidden_size=20, num_attention_heads=4, intermediate_size=44, num_labels=3, max_len=32):
        super().__init__()
        self.num_labels = num_labels
        self.word = nn.Embedding(vocab_size, hidden_size, padding_idx=0)
        self.pos = nn.Embedding(max_len, hidden_size)
        self.segment = nn.Embedding(2, hidden_size)
        self.norm = nn.LayerNorm(hidden_size)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(hidden_size, num_attention_heads, intermediate_size, batch_first=True, activation="gelu")
            for _ in range(2)
        )
        self.classifier = nn.Sequential(OrderedDict(dense=nn.Linear(hidden_size, hidden_size), act=nn.Tanh(),
                                                    out_proj=nn.Linear(hidden_size, num_labels)))
        self.register_buffer("position_ids", torch.arange(max_len).expand((1, -1)), persistent=False)

    def forward(self, input_ids=None, attention_mask=None, token_type_ids=None, labels=None, output_hidden_states=False):
        bsz, seq_len = input_ids.shape
        h = self.word(input_ids) + self.pos(self.position_ids[:, :seq_len]) + self.segment(token_type_ids)
        h = self.norm(h)
        all_hidden_states = (h,) if output_hidden_states else None
        for layer in self.layers:
            h = layer(h, src_key_padding_mask=attention_mask == 0)
            if output_hidden_states:
                all_hidden_states = all_hidden_states + (h,)
        mask = attention_mask.unsqueeze(-1).type_as(h)
        pooled = (h * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
        logits = self.classifier(pooled)
        out = ModelOutput()
        if labels is not None:
            if self.num_labels == 1:
                out["loss"] = nn.functional.mse_loss(logits.squeeze(), labels.squeeze())
            else:
                out["loss"] = nn.functional.cross_entropy(logits.view(-1, self.num_labels), labels.view(-1))
        out["logits"] = logits
        if output_hidden_states:
            out["hidden_states"] = all_hidden_states
        return out


class LabelSmoother:
    def __init__(self, epsilon: float = 0.1, ignore_index: int = -100):
        self.epsilon, self.ignore_index = epsilon, ignore_index

    def __call__(self, model_output, labels):
        logits = model_output["logits"] if isinstance(model_output, dict) else model_output[0]
        log_probs = -nn.functional.log_softmax(logits, dim=-1)
        if labels.dim() == log_probs.dim() - 1:
            labels = labels.unsqueeze(-1)
        padding_mask = labels.eq(self.ignore_index)
        labels = torch.clamp(labels, min=0)
        nll_loss = log_probs.gather(dim=-1, index=labels)
        smoothed_loss = log_probs.sum(dim=-1, keepdim=True, dtype=torch.float32)
        nll_loss.masked_fill_(padding_mask, 0.0)
        smoothed_loss.masked_fill_(padding_mask, 0.0)
        num_active = padding_mask.numel() - padding_mask.long().sum()
        return (1 - self.epsilon) * nll_loss.sum() / num_active + self.epsilon * smoothed_loss.sum() / (num_active * log_probs.shape[-1])


def get_linear_schedule_with_warmup(optimizer, num_warmup_steps, num_training_steps, last_epoch=-1):
    def lr_lambda(current_step):
        if current_step < num_warmup_steps:
            return float(current_step) / float(max(1, num_warmup_steps))
        return max(0.0, float(num_training_steps - current_step) / float(max(1, num_training_steps - num_warmup_steps)))

    return torch.optim.lr_scheduler.LambdaLR(optimizer, lr_lambda, last_epoch)


class Trainer:
    def __init__(self, model: nn.Module, args: TrainingArguments, data_collator: Optional[Callable] = None,
                 train_dataset: Optional[Dataset] = None, eval_dataset: Optional[Dataset] = None,
                 compute_metrics: Optional[Callable[[EvalPrediction], Dict]] = None):
        self.args = args
        self.model = model.to(args.device)
        self.data_collator = data_collator if data_collator is not None else default_data_collator
        self.train_dataset, self.eval_dataset = train_dataset, eval_dataset
        self.compute_metrics = compute_metrics
        self.label_smoother = LabelSmoother(epsilon=args.label_smoothing_factor) if args.label_smoothing_factor != 0 else None

    def get_train_dataloader(self) -> DataLoader:
        if self.train_dataset is None:
            raise ValueError("Trainer: training requires a train_dataset.")
        return DataLoader(self.train_dataset, batch_size=self.args.train_batch_size, sampler=RandomSampler(self.train_dataset),
                          collate_fn=self.data_collator)

    def get_eval_dataloader(self, eval_dataset=None) -> DataLoader:
        eval_dataset = eval_dataset if eval_dataset is not None else self.eval_dataset
        return DataLoader(eval_dataset, sampler=SequentialSampler(eval_dataset), batch_size=self.args.per_device_eval_batch_size,
                          collate_fn=self.data_collator)

    def create_optimizer_and_scheduler(self, num_training_steps: int):
        decay = [n for n, p in self.model.named_parameters() if "bias" not in n and "norm" not in n]
        groups = [
            {"params": [p for n, p in self.model.named_parameters() if n in decay], "weight_decay": self.args.weight_decay},
            {"params": [p for n, p in self.model.named_parameters() if n not in decay], "weight_decay": 0.0},
        ]
        self.optimizer = torch.optim.AdamW(groups, lr=self.args.learning_rate)
        self.lr_scheduler = get_linear_schedule_with_warmup(self.optimizer, self.args.warmup_steps, num_training_steps)

    def _prepare_inputs(self, inputs: Dict[str, Union[torch.Tensor, Any]]) -> Dict[str, Union[torch.Tensor, Any]]:
        for k, v in inputs.items():
            if isinstance(v, torch.Tensor):
                inputs[k] = v.to(self.args.device)
        return inputs

    def compute_loss(self, model, inputs, return_outputs=False):
        labels = inputs.pop("labels") if self.label_smoother is not None and "labels" in inputs else None
        outputs = model(**inputs)
        if labels is not None:
            loss = self.label_smoother(outputs, labels)
        else:
            loss = outputs["loss"] if isinstance(outputs, dict) else outputs[0]
        return (loss, outputs) if return_outputs else loss

    def training_step(self, model: nn.Module, inputs) -> torch.Tensor:
        model.train()
        inputs = self._prepare_inputs(inputs)
        loss = self.compute_loss(model, inputs)
        if self.args.gradient_accumulation_steps > 1:
            loss = loss / self.args.gradient_accumulation_steps
        loss.backward()
        return loss.detach()

    def train(self):
        train_dataloader = self.get_train_dataloader()
        num_update_steps_per_epoch = max(len(train_dataloader) // self.args.gradient_accumulation_steps, 1)
        max_steps = math.ceil(self.args.num_train_epochs * num_update_steps_per_epoch)
        self.create_optimizer_and_scheduler(num_training_steps=max_steps)
        tr_loss = torch.tensor(0.0).to(self.args.device)
        global_step = 0
        self.model.zero_grad()
        for epoch in range(math.ceil(self.args.num_train_epochs)):
            for step, inputs in enumerate(train_dataloader):
                tr_loss += self.training_step(self.model, inputs)
                if (step + 1) % self.args.gradient_accumulation_steps == 0:
                    if self.args.max_grad_norm is not None and self.args.max_grad_norm > 0:
                        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.args.max_grad_norm)
                    self.optimizer.step()
                    self.lr_scheduler.step()
                    self.model.zero_grad()
                    global_step += 1
        return global_step, tr_loss.item() / global_step

    def prediction_step(self, model, inputs, prediction_loss_only: bool):
        inputs = self._prepare_inputs(inputs)
        with torch.no_grad():
            outputs = model(**inputs)
            loss = outputs["loss"].mean().detach()
            logits = outputs["logits"]
        if prediction_loss_only:
            return (loss, None, None)
        return (loss, logits.detach(), inputs["labels"].detach())

    def evaluate(self, eval_dataset=None) -> PredictionOutput:
        losses, preds, label_ids = [], None, None
        self.model.eval()
        for inputs in self.get_eval_dataloader(eval_dataset):
            loss, logits, labels = self.prediction_step(self.model, inputs, prediction_loss_only=False)
            losses.append(loss.repeat(labels.size(0)))
            if logits is not None:
                preds = logits if preds is None else torch.cat((preds, logits), dim=0)
            if labels is not None:
                label_ids = labels if label_ids is None else torch.cat((label_ids, labels), dim=0)
        preds, label_ids = preds.cpu().numpy(), label_ids.cpu().numpy()
        metrics = self.compute_metrics(EvalPrediction(predictions=preds, label_ids=label_ids)) if self.compute_metrics else {}
        metrics["eval_loss"] = torch.cat(losses).mean().item()
        return PredictionOutput(predictions=preds, label_ids=label_ids, metrics=metrics)


def compute_metrics(p: EvalPrediction) -> Dict:
    preds = np.argmax(p.predictions, axis=1)
    return {"acc": (preds == p.label_ids).mean(), "confusion": np.eye(3)[preds].T @ np.eye(3)[p.label_ids]}


def main():
    args = TrainingArguments(output_dir="/tmp/none", label_smoothing_factor=0.1)
    torch.manual_seed(args.seed)
    logger.info("args %s", asdict(args))
    trainer = Trainer(Encoder(), args, train_dataset=PairDataset(24, 60, (7, 9), 0), eval_dataset=PairDataset(19, 60, (7, 9), 1),
                      compute_metrics=compute_metrics)
    print(trainer.train())
    out = trainer.evaluate()
    print(out.metrics["acc"], out.predictions.shape)
    hs = trainer.model(**{k: v.to(args.device) for k, v in default_data_collator(trainer.eval_dataset.features[:2]).items() if k != "labels"},
                       output_hidden_states=True).hidden_states
    print(torch.stack(hs).shape)


if __name__ == "__main__":
    main()
