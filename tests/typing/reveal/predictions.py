"""What a model gives for all batches of a loader, together: the type of one batch with an unknown first size."""

from typing import Any

import torch
from torch.nn import functional as F

from simpletorch import nn
from simpletorch.data import DataLoader, TensorDataset
from simpletorch.optim import SGD
from simpletorch.train import Trainer, predict

model = nn.Sequential(nn.Linear(7, 5), nn.ReLU(), nn.Linear(5, 3))
inputs = torch.zeros(11, 7)
loader = DataLoader(TensorDataset(inputs, torch.zeros(11, dtype=torch.int64)), 4)
trainer = Trainer(loss=F.cross_entropy, optimizer=SGD(model.parameters()), progress=False)
half = Trainer(loss=F.cross_entropy, optimizer=SGD(model.parameters()), progress=False, precision="bfloat16")
unknown: Any = loader

reveal_type(predict(model, loader))  # R: Tensor[Float32, Any, 3]
reveal_type(predict(model, DataLoader(TensorDataset(inputs), 4)))  # R: Tensor[Float32, Any, 3]
reveal_type(predict(model, [inputs, inputs]))  # R: Tensor[Float32, Any, 3]
reveal_type(trainer.predict(model, loader))  # R: Tensor[Float32, Any, 3]
reveal_type(half.predict(model, loader))  # R: Tensor[Any, Any, 3]
reveal_type(predict(model, unknown))  # R: Any
reveal_type(predict(model, [(inputs,)], targets=False))  # R: Any
