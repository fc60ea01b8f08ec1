"""Modules that don't fit each other, or what they are called with."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

import simpletorch as st
from simpletorch import Float32, Tensor
from simpletorch.nn import run_padded

x = torch.zeros(7, 11)


def fail_sequential() -> None:
    nn.Sequential(nn.Linear(11, 13), nn.ReLU(), nn.Linear(17, 3))(x)  # E: tensor-shape


def fail_list_of_layers() -> None:
    layers = [nn.Linear(11, 13), nn.ReLU(), nn.Linear(17, 3)]
    nn.Sequential(*layers)(x)  # E: tensor-shape


def fail_append() -> None:
    model = nn.Sequential(nn.Linear(11, 13))
    model.append(nn.Linear(17, 3))  # E: tensor-shape
    model(x)


def fail_add_layer() -> None:
    st.nn.Sequential().add_layer(nn.Linear(11, 13)).add_layer(nn.Linear(17, 3))(x)  # E: tensor-shape


class Block(nn.Sequential):
    def __init__(self) -> None:
        super().__init__(nn.Linear(11, 13), nn.Linear(17, 3))  # E: tensor-shape


def fail_subclass() -> None:
    Block()(x)


def fail_slice() -> None:
    nn.Sequential(nn.Linear(11, 13), nn.Linear(13, 3))[1:](x)  # E: tensor-shape


def fail_item_of_a_list() -> None:
    nn.ModuleList([nn.Linear(11, 13), nn.Linear(13, 3)])[1](x)  # E: tensor-shape


def fail_item_of_a_dict() -> None:
    nn.ModuleDict({"a": nn.Linear(11, 13), "b": nn.Linear(13, 3)})["b"](x)  # E: tensor-shape


def fail_both_of_a_union() -> None:
    either = nn.Linear(12, 13) if x.sum() > 0 else nn.Linear(13, 5)
    either(x)  # E: tensor-shape


def fail_dtype() -> None:
    nn.Linear(11, 3)(x.double())  # E: tensor-dtype


def fail_dtype_of_the_constructor() -> None:
    nn.LSTM(11, 3, dtype=torch.float64)(x)  # E: tensor-dtype


def fail_converted() -> None:
    nn.Linear(11, 3).half()(x)  # E: tensor-dtype


def fail_compiled() -> None:
    torch.compile(nn.Linear(13, 3), backend="eager")(x)  # E: tensor-shape


def fail_functional_call() -> None:
    torch.func.functional_call(nn.Linear(13, 3), {}, (x,))  # E: tensor-shape


def fail_run_padded() -> None:
    run_padded(nn.GRU(13, 3), torch.zeros(5, 2, 11), torch.tensor([5, 3]))  # E: tensor-shape


def fail_parametrised() -> None:
    nn.utils.parametrizations.weight_norm(nn.Linear(13, 3))(x)  # E: tensor-shape


def fail_buffer() -> None:
    class Masked(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("mask", torch.ones(13))

        def forward(self, x: Tensor[Float32, 7, 11]) -> torch.Tensor:
            return x * self.mask  # E: tensor-shape

    Masked()(x)


def fail_lengths() -> None:
    pack_padded_sequence(torch.zeros(7, 3, 5), [7, 5])  # E: tensor-shape


def fail_packed() -> None:
    packed = pack_padded_sequence(torch.zeros(7, 2, 5), [7, 5])
    nn.GRU(3, 5)(packed)  # E: tensor-shape


def fail_class_weights() -> None:
    nn.CrossEntropyLoss(weight=torch.ones(5))(x, torch.zeros(7, dtype=torch.int64))  # E: tensor-shape


def fail_recurrent_size() -> None:
    nn.LSTM(3.5, 4)  # E: tensor-shape


def fail_padding_mode() -> None:
    nn.Conv2d(3, 5, 3, padding_mode="zero")  # E: tensor-shape


def fail_misspelt() -> None:
    class Misspelt(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(11, 3)

        def forward(self, given: torch.Tensor) -> None:
            self.fcc(given)  # E: operator

    Misspelt()(x)


def fail_another_class_than_the_annotation_of_a_forward_says() -> None:
    class Doubled(nn.Module):
        def forward(self, x: Tensor[Float32, 3, 7]) -> Tensor[Float32, 3, 7]:
            return 2 * x

    name: str = Doubled()(torch.zeros(3, 7))  # E: assignment
    name.upper()


def fail_pair() -> None:
    pair = nn.LSTM(4, 5)(torch.randn(7, 3, 4))
    nn.Identity()(pair)
    nn.Linear(5, 2)(pair[0])
    nn.Linear(5, 2)(pair)  # E: tensor-class
    nn.Linear(5, 2)(nn.GRU(4, 5)(torch.randn(7, 3, 4)))  # E: tensor-class
