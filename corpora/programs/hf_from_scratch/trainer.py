import inspect
import math
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, NamedTuple, Optional

import numpy as np
import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, RandomSampler, SequentialSampler


@dataclass
class TrainingArguments:
    output_dir: str = "out"
    per_device_train_batch_size: int = 4
    per_device_eval_batch_size: int = 8
    gradient_accumulation_steps: int = 2
    learning_rate: float = 5e-4
    weight_decay: float = 0.01
    num_train_epochs: int = 1
    warmup_ratio: float = 0.1
    max_grad_norm: float = 1.0
    logging_steps: int = 1
    label_smoothing_factor: float = 0.0
    seed: int = 42
    no_decay: List[str] = field(default_factory=lambda: ["bias", "norm"])


class EvalPrediction(NamedTuple):
    predictions: np.ndarray
    label_ids: np.ndarray


@dataclass
class DataCollatorWithPadding:
    pad_token_id: int = 0
    pad_to_multiple_of: Optional[int] = None

    def __call__(self, features: List[Dict[str, Any]]) -> Dict[str, torch.Tensor]:
        longest = max(len(f["input_ids"]) for f in features)
        if self.pad_to_multiple_of:
            longest = math.ceil(longest / self.pad_to_multiple_of) * self.pad_to_multiple_of
        batch = {"input_ids": [], "attention_mask": [], "token_type_ids": []}
        for f in features:
            pad = longest - len(f["input_ids"])
            batch["input_ids"].append(f["input_ids"] + [self.pad_token_id] * pad)
            batch["attention_mask"].append([1] * len(f["input_ids"]) + [0] * pad)
            batch["token_type_ids"].append(f["token_type_ids"] + [0] * pad)
        batch = {k: torch.tensor(v, dtype=torch.long) for k, v in batch.items()}
        batch["labels"] = torch.tensor([f["label"] for f in features])
        return batch


class TrainerCallback:
    def on_log(self, args, state, logs):
        pass


class PrinterCallback(TrainerCallback):
    def on_log(self, args, state, logs):
        print({"step": state["global_step"], **{k: round(v, 4) for k, v in logs.items()}})


def get_linear_schedule_with_warmup(optimizer, num_warmup_steps, num_training_steps, last_epoch=-1):
    def lr_lambda(current_step):
        if current_step < num_warmup_steps:
            return float(current_step) / float(max(1, num_warmup_steps))
        return max(0.0, float(num_training_steps - current_step) / float(max(1, num_training_steps - num_warmup_steps)))

    return LambdaLR(optimizer, lr_lambda, last_epoch)


def nested_concat(a, b):
    return b if a is None else np.concatenate((a, b), axis=0)


class Trainer:
    def __init__(self, model, args, data_collator, train_dataset=None, eval_dataset=None,
                 compute_metrics: Optional[Callable] = None, callbacks=None):
        self.model = model
        self.args = args
        self.data_collator = data_collator
        self.train_dataset = train_dataset
        self.eval_dataset = eval_dataset
        self.compute_metrics = compute_metrics
        self.callbacks = [PrinterCallback()] + (callbacks or [])
        self.state = {"global_step": 0, "epoch": 0}
        self._signature_columns = set(inspect.signature(model.forward).parameters)

    def get_train_dataloader(self):
        return DataLoader(self.train_dataset, batch_size=self.args.per_device_train_batch_size,
                          sampler=RandomSampler(self.train_dataset), collate_fn=self.data_collator)

    def get_eval_dataloader(self):
        return DataLoader(self.eval_dataset, batch_size=self.args.per_device_eval_batch_size,
                          sampler=SequentialSampler(self.eval_dataset), collate_fn=self.data_collator)

    def create_optimizer(self):
        decay, rest = [], []
        for n, p in self.model.named_parameters():
            (rest if any(nd in n.lower() for nd in self.args.no_decay) else decay).append(p)
        groups = [{"params": decay, "weight_decay": self.args.weight_decay}, {"params": rest, "weight_decay": 0.0}]
        return torch.optim.AdamW(groups, lr=self.args.learning_rate)

    def _prepare_inputs(self, inputs):
        return {k: v.to(next(self.model.parameters()).device) for k, v in inputs.items() if isinstance(v, torch.Tensor)}

    def compute_loss(self, model, inputs, return_outputs=False):
        outputs = model(**inputs)
        loss = outputs["loss"] if isinstance(outputs, dict) else outputs[0]
        return (loss, outputs) if return_outputs else loss

    def log(self, logs):
        for cb in self.callbacks:
            cb.on_log(self.args, self.state, logs)

    def train(self):
        args = self.args
        loader = self.get_train_dataloader()
        num_update_steps_per_epoch = max(len(loader) // args.gradient_accumulation_steps, 1)
        max_steps = math.ceil(args.num_train_epochs * num_update_steps_per_epoch)
        optimizer = self.create_optimizer()
        scheduler = get_linear_schedule_with_warmup(optimizer, math.ceil(max_steps * args.warmup_ratio), max_steps)
        tr_loss = torch.tensor(0.0)
        for epoch in range(args.num_train_epochs):
            for step, inputs in enumerate(loader):
                self.model.train()
                loss = self.compute_loss(self.model, self._prepare_inputs(inputs))
                loss = loss / args.gradient_accumulation_steps
                loss.backward()
                tr_loss += loss.detach()
                if (step + 1) % args.gradient_accumulation_steps == 0:
                    nn.utils.clip_grad_norm_(self.model.parameters(), args.max_grad_norm)
                    optimizer.step()
                    scheduler.step()
                    self.model.zero_grad()
                    self.state["global_step"] += 1
                    if self.state["global_step"] % args.logging_steps == 0:
                        self.log({"loss": tr_loss.item(), "lr": scheduler.get_last_lr()[0]})
                        tr_loss -= tr_loss
            self.state["epoch"] = epoch + 1
        return self.evaluate()

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        losses, preds, labels = [], None, None
        for inputs in self.get_eval_dataloader():
            inputs = self._prepare_inputs(inputs)
            loss, outputs = self.compute_loss(self.model, inputs, return_outputs=True)
            losses.append(loss.repeat(inputs["input_ids"].shape[0]))
            preds = nested_concat(preds, outputs.logits.numpy())
            labels = nested_concat(labels, inputs["labels"].numpy())
        metrics = {"eval_loss": torch.cat(losses).mean().item()}
        if self.compute_metrics is not None:
            metrics.update(self.compute_metrics(EvalPrediction(predictions=preds, label_ids=labels)))
        self.log(metrics)
        return metrics
