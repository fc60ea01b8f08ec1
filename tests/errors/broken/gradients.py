"""backward, in-place changes, checkpoints, memory: what no static check sees."""

import copy

import torch
from torch import nn, zeros


def backward_of_a_vector() -> None:
    losses = zeros(3, requires_grad=True) * 2
    losses.backward()


def backward_without_a_graph() -> None:
    loss = zeros(())
    loss.backward()


def backward_twice() -> None:
    loss = zeros(2, requires_grad=True).exp().sum()
    loss.backward()
    loss.backward()


def an_activation_changed_in_place() -> None:
    y = (zeros(3, requires_grad=True) * 2).exp()
    y.add_(1)
    y.sum().backward()


def an_item_assigned_after_use() -> None:
    h = zeros(3, 5, requires_grad=True).sigmoid()
    out = h * h
    h[0] = 0
    out.sum().backward()


def parameters_updated_before_backward() -> None:
    model = nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss = model(zeros(2, 3)).sum()
    loss.backward(retain_graph=True)
    optimizer.step()
    loss.backward()


def a_leaf_changed_in_place() -> None:
    w = zeros(3, requires_grad=True)
    w += 1


def a_gradient_of_another_shape() -> None:
    y = zeros(3, requires_grad=True) * 2
    y.backward(zeros(5))


def an_unused_input_of_grad() -> None:
    x, unused = zeros(3, requires_grad=True), zeros(3, requires_grad=True)
    torch.autograd.grad(x.sum(), [unused])


def gradients_of_integers() -> None:
    ids = zeros(3, dtype=torch.int64)
    ids.requires_grad_()


def a_deep_copy_of_a_result() -> None:
    state = zeros(3, requires_grad=True) * 2
    copy.deepcopy(state)


def an_inference_tensor_in_training() -> None:
    with torch.inference_mode():
        x = zeros(3)
    w = zeros(3, requires_grad=True)
    x * w


def a_checkpoint_of_another_size() -> None:
    model = nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 7))
    state = {"0.weight": zeros(5, 3), "0.bias": zeros(11), "2.weight": zeros(7, 5)}
    model.load_state_dict(state)


def a_checkpoint_of_a_wrapped_model() -> None:
    model = nn.Linear(3, 5)
    state = {f"module.{key}": value for key, value in model.state_dict().items()}
    model.load_state_dict(state)


def one_of_two_parameters_updated_before_backward() -> None:
    a, b = nn.Linear(3, 3), nn.Linear(3, 3)
    optimizer = torch.optim.SGD([*a.parameters(), *b.parameters()], lr=0.1)
    loss = b(a(zeros(2, 3))).sum()
    loss.backward(retain_graph=True)
    optimizer.step()
    loss.backward()
