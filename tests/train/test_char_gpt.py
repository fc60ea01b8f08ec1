"""The character GPT of the examples learns by the `Trainer` exactly as it does by a loop in plain torch."""

import importlib.util
from pathlib import Path

import torch
from torch.nn import functional as F

EXAMPLE = Path(__file__).parents[2] / "examples" / "char_gpt.py"


def example():
    spec = importlib.util.spec_from_file_location("char_gpt", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def plain_torch(char_gpt, epochs, *, fused):
    """The loop that the example doesn't have to write: the losses, and the model."""
    torch.manual_seed(1337)
    model = char_gpt.CharGPT(len(char_gpt.LETTERS))
    loader = torch.utils.data.DataLoader(char_gpt.windows(), char_gpt.BATCH, shuffle=True)
    decaying = [parameter for name, parameter in model.named_parameters() if parameter.ndim >= 2]
    others = [parameter for name, parameter in model.named_parameters() if parameter.ndim < 2]
    optimizer = torch.optim.AdamW(
        [{"params": decaying, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}], lr=1e-2, fused=fused
    )
    total, warmup = epochs * len(loader), 20

    def share(step):
        if step < warmup:
            return (step + 1) / warmup
        progress = torch.tensor((step - warmup) / (total - warmup), dtype=torch.float64)
        return 0.1 + 0.9 * (1 + torch.cos(torch.pi * progress).item()) / 2

    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, share)
    losses = []
    model.train()
    for _ in range(epochs):
        for tokens, targets in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(tokens).transpose(1, 2), targets)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            losses.append(loss.item())
    return losses, model


def test_the_curve_is_that_of_plain_torch():
    char_gpt = example()
    model, losses = char_gpt.train(epochs=2, progress=False)
    expected, plain = plain_torch(char_gpt, 2, fused=True)
    assert losses == expected
    for parameter, other in zip(model.parameters(), plain.parameters(), strict=True):
        assert torch.equal(parameter, other)
    assert losses[-1] < 0.6 * losses[0]


def test_torch_s_default_optimizer_differs_by_rounding_only():
    char_gpt = example()
    _, losses = char_gpt.train(epochs=1, progress=False)
    expected, _ = plain_torch(char_gpt, 1, fused=None)
    torch.testing.assert_close(torch.tensor(losses), torch.tensor(expected), rtol=1e-3, atol=0)


def test_it_writes():
    char_gpt = example()
    torch.manual_seed(0)
    text = char_gpt.CharGPT(len(char_gpt.LETTERS)).write("When ", 71)
    assert text.startswith("When ")
    assert len(text) == 76
    assert set(text) <= set(char_gpt.LETTERS)
