"""Runs a port at small random sizes and asserts the shapes that its annotations promise."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

MODELS = Path(__file__).parents[2] / "examples" / "models"
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31)


def load(path: Path) -> ModuleType:
    """The module in ``path``, which may be a mutated copy."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sizes(seed: int, count: int) -> list[int]:
    """``count`` distinct small primes."""
    return random.Random(seed).sample(PRIMES, count)


def tokens(vocab: int, *shape: int) -> torch.Tensor:
    return torch.randint(vocab, shape)


def gpt(port: Any, seed: int) -> None:
    b, t, d, h, v, steps = sizes(seed, 6)
    model = port.GPT(vocab=v, context=t + steps, dim=d * h, heads=h, layers=2)
    prompt = tokens(v, b, t)
    scores, caches = model(prompt, model.empty_cache(b))
    assert scores.shape == (b, t, v)
    assert [cache.keys.shape for cache in caches] == [(b, h, t, d)] * 2
    more = tokens(v, b, steps)
    later, _ = model(more, caches)
    together, _ = model(torch.cat([prompt, more], dim=1), model.empty_cache(b))
    assert torch.allclose(torch.cat([scores, later], dim=1), together, atol=1e-4)
    assert model.loss(prompt).shape == ()
    assert model.generate(prompt, steps).shape == (b, t + steps)


def llama(port: Any, seed: int) -> None:
    b, t, d, g, e, m, v = sizes(seed, 7)
    config = port.Config(v, d, 3 * g, g, 2 * e, m, context=t + 2, layers=2)
    assert port.Llama(config)(tokens(v, b, t)).shape == (b, t, v)


def vit(port: Any, seed: int) -> None:
    b, c, p, d, h, m, k = sizes(seed, 7)
    model = port.ViT(c, 3 * p, p, d * h, h, m, k, layers=2)
    assert model(torch.randn(b, c, 3 * p, 3 * p)).shape == (b, k)


def resnet(port: Any, seed: int) -> None:
    b, m, k = sizes(seed, 3)
    model = port.ResNet(k, m, blocks=(2, 1, 1, 2))
    assert model(torch.randn(b, 3, 101, 67)).shape == (b, k)


def unet(port: Any, seed: int) -> None:
    b, i, c, k = sizes(seed, 4)
    scores = port.UNet(i, c, k)(torch.randn(b, i, 48, 32))
    assert scores.shape == (b, k, 48, 32)
    assert port.dice_loss(scores, torch.zeros_like(scores)).shape == ()


def lstm_tagger(port: Any, seed: int) -> None:
    b, t, v, e, h, k = sizes(seed, 6)
    model = port.Tagger(v, e, h, k)
    words, lengths = tokens(v, b, t), torch.randint(1, t + 1, (b,))
    assert model(words, lengths).shape == (b, t, k)
    assert model.loss(words, lengths, tokens(k, b, t)).shape == ()
    assert [len(tags) for tags in model.tag(words, lengths)] == lengths.tolist()


def vae(port: Any, seed: int) -> None:
    b, n = sizes(seed, 2)
    model, images = port.VAE(), torch.rand(b, 28, 28)
    assert model(images).shape == (b, 28, 28)
    assert port.divergence(*model.encoder(images)).shape == (b,)
    assert model.loss(images, samples=n).shape == ()
    assert model.generate(n).shape == (n, 28, 28)


def diffusion(port: Any, seed: int) -> None:
    b, i, g, s = sizes(seed, 4)
    model = port.Diffusion(port.Denoiser(i, 2 * g, groups=g), s)
    images = torch.randn(b, i, 12, 20)
    assert model.loss(images).shape == ()
    assert model.sample(images).shape == (b, i, 12, 20)


def moe(port: Any, seed: int) -> None:
    b, t, d, h, m, v = sizes(seed, 6)
    scores, loss = port.Mixtral(v, d * h, h, m, experts=5, chosen=3, layers=2)(tokens(v, b, t))
    assert scores.shape == (b, t, v)
    assert loss.shape == ()


def dqn(port: Any, seed: int) -> None:
    b, k = sizes(seed, 2)
    frames = torch.randint(256, (b, 4, 84, 84), dtype=torch.uint8)
    network, target = port.QNetwork(k), port.QNetwork(k)
    batch = port.Transitions(frames, tokens(k, b), torch.rand(b), frames, torch.rand(b) < 0.5)
    assert network(frames).shape == (b, k)
    assert port.act(network, frames, epsilon=0.5).shape == (b,)
    assert port.targets(network, target, batch.rewards, frames, batch.over, 0.9).shape == (b,)
    assert port.loss(network, target, batch).shape == ()


def actor_critic(port: Any, seed: int) -> None:
    b, t, i, d, k = sizes(seed, 5)
    model = port.ActorCritic(i, d, k)
    observations, last = torch.randn(t, b, i), torch.randn(b, i)
    scores, values = model(observations)
    assert scores.shape == (t, b, k)
    assert values.shape == (t, b)
    actions, log_probabilities = model.act(last)
    assert actions.shape == log_probabilities.shape == (b,)
    rollout = port.Rollout(observations, tokens(k, t, b), -torch.rand(t, b), torch.rand(t, b), torch.rand(t, b) < 0.1)
    assert port.loss(model, rollout, last).shape == ()


PORTS: dict[str, Callable[[Any, int], None]] = {
    f.__name__: f for f in (gpt, llama, vit, resnet, unet, lstm_tagger, vae, diffusion, moe, dqn, actor_critic)
}
