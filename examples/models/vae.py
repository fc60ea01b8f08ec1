"""A variational autoencoder for 28×28 digits.

Kingma and Welling, Auto-Encoding Variational Bayes, 2013. An image of 784 pixels becomes a Gaussian over 20 latent
values, and a sample of it becomes an image again. Annotated with jaxtyping's strings, over plain `torch.nn`.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float32
from torch import Tensor, nn


class Encoder(nn.Module):
    """From images to the Gaussians over what made them."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(784, 400)
        self.mean = nn.Linear(400, 20)
        self.log_variance = nn.Linear(400, 20)

    def forward(
        self, images: Float32[Tensor, "batch 28 28"]
    ) -> tuple[Float32[Tensor, "batch 20"], Float32[Tensor, "batch 20"]]:
        """Mean and logarithm of the variance of each latent value."""
        hidden = torch.tanh(self.hidden(images.flatten(start_dim=1)))
        return self.mean(hidden), self.log_variance(hidden)


class Decoder(nn.Module):
    """From latent values to images."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(20, 400), nn.Tanh(), nn.Linear(400, 784))

    def forward(self, latent: Float32[Tensor, "*samples 20"]) -> Float32[Tensor, "*samples 28 28"]:
        """The logit of each pixel's brightness."""
        return self.layers(latent).unflatten(-1, (28, 28))


def sample(
    mean: Float32[Tensor, "batch latent"], log_variance: Float32[Tensor, "batch latent"], count: int
) -> Float32[Tensor, "count batch latent"]:
    """``count`` samples of each Gaussian, with gradients to its parameters (the reparametrization trick)."""
    noise = torch.randn(count, *mean.shape, device=mean.device)
    return mean + noise * torch.exp(log_variance / 2)


def divergence(
    mean: Float32[Tensor, "batch latent"], log_variance: Float32[Tensor, "batch latent"]
) -> Float32[Tensor, " batch"]:
    """The Kullback-Leibler divergence of each Gaussian from the standard one, in nats (the paper's appendix B)."""
    return -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).sum(dim=1)


class VAE(nn.Module):
    """Encoder and decoder, trained together by the evidence lower bound."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = Encoder()
        self.decoder = Decoder()

    def forward(self, images: Float32[Tensor, "batch 28 28"]) -> Float32[Tensor, "batch 28 28"]:
        """The images as the model remembers them: brightness from 0 to 1."""
        mean, _ = self.encoder(images)
        return self.decoder(mean).sigmoid()

    def loss(self, images: Float32[Tensor, "batch 28 28"], samples: int = 1) -> Float32[Tensor, ""]:
        """The mean negative evidence lower bound of an image, in nats."""
        mean, log_variance = self.encoder(images)
        logits = self.decoder(sample(mean, log_variance, samples))
        errors = F.binary_cross_entropy_with_logits(logits, images.expand_as(logits), reduction="none")
        reconstruction = errors.sum(dim=(-2, -1)).mean(dim=0)
        return (reconstruction + divergence(mean, log_variance)).mean()

    @torch.no_grad()
    def generate(self, count: int) -> Float32[Tensor, "count 28 28"]:
        """``count`` new images."""
        device = self.encoder.hidden.weight.device
        return self.decoder(torch.randn(count, 20, device=device)).sigmoid()
