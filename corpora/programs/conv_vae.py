import json
from abc import abstractmethod
from typing import List, Any

import torch
from torch import nn
from torch.nn import functional as F

CONFIG = json.loads("""
{
  "model_params": {"name": "BetaVAE", "in_channels": 3, "latent_dim": 12, "hidden_dims": [8, 16, 24], "loss_type": "B"},
  "data_params": {"train_batch_size": 6, "val_batch_size": 4, "patch_size": 32},
  "exp_params": {"LR": 0.005, "weight_decay": 0.0, "scheduler_gamma": 0.95, "kld_weight": 0.00025, "manual_seed": 1265},
  "trainer_params": {"max_epochs": 2}
}
""")


class BaseVAE(nn.Module):

    def __init__(self) -> None:
        super(BaseVAE, self).__init__()

    def encode(self, input) -> List:
        raise NotImplementedError

    def decode(self, input) -> Any:
        raise NotImplementedError

    def sample(self, batch_size: int, current_device: int, **kwargs):
        raise NotImplementedError

    def generate(self, x, **kwargs):
        raise NotImplementedError

    @abstractmethod
    def forward(self, *inputs):
        pass

    @abstractmethod
    def loss_function(self, *inputs: Any, **kwargs):
        pass


class BetaVAE(BaseVAE):

    num_iter = 0  # Global static variable to keep track of iterations

    def __init__(self,
                 in_channels: int,
                 latent_dim: int,
                 hidden_dims: List = None,
                 beta: int = 4,
                 gamma: float = 1000.,
                 max_capacity: int = 25,
                 Capacity_max_iter: int = 1e5,
                 loss_type: str = 'B',
                 **kwargs) -> None:
        super(BetaVAE, self).__init__()

        self.latent_dim = latent_dim
        self.beta = beta
        self.gamma = gamma
        self.loss_type = loss_type
        self.C_max = torch.Tensor([max_capacity])
        self.C_stop_iter = Capacity_max_iter

        modules = []
        if hidden_dims is None:
            hidden_dims = [32, 64, 128, 256, 512]

        # Build Encoder
        for h_dim in hidden_dims:
            modules.append(
                nn.Sequential(
                    nn.Conv2d(in_channels, out_channels=h_dim,
                              kernel_size=3, stride=2, padding=1),
                    nn.BatchNorm2d(h_dim),
                    nn.LeakyReLU())
            )
            in_channels = h_dim

        self.encoder = nn.Sequential(*modules)
        self.top = hidden_dims[-1]
        self.fc_mu = nn.Linear(hidden_dims[-1]*16, latent_dim)
        self.fc_var = nn.Linear(hidden_dims[-1]*16, latent_dim)

        # Build Decoder
        modules = []

        self.decoder_input = nn.Linear(latent_dim, hidden_dims[-1] * 16)

        hidden_dims = hidden_dims[::-1]

        for i in range(len(hidden_dims) - 1):
            modules.append(
                nn.Sequential(
                    nn.ConvTranspose2d(hidden_dims[i],
                                       hidden_dims[i + 1],
                                       kernel_size=3,
                                       stride=2,
                                       padding=1,
                                       output_padding=1),
                    nn.BatchNorm2d(hidden_dims[i + 1]),
                    nn.LeakyReLU())
            )

        self.decoder = nn.Sequential(*modules)

        self.final_layer = nn.Sequential(
                            nn.ConvTranspose2d(hidden_dims[-1],
                                               hidden_dims[-1],
                                               kernel_size=3,
                                               stride=2,
                                               padding=1,
                                               output_padding=1),
                            nn.BatchNorm2d(hidden_dims[-1]),
                            nn.LeakyReLU(),
                            nn.Conv2d(hidden_dims[-1], out_channels=3,
                                      kernel_size=3, padding=1),
                            nn.Tanh())

    def encode(self, input):
        result = self.encoder(input)
        result = torch.flatten(result, start_dim=1)

        # Split the result into mu and var components
        # of the latent Gaussian distribution
        mu = self.fc_mu(result)
        log_var = self.fc_var(result)

        return [mu, log_var]

    def decode(self, z):
        result = self.decoder_input(z)
        result = result.view(-1, self.top, 4, 4)
        result = self.decoder(result)
        result = self.final_layer(result)
        return result

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return eps * std + mu

    def forward(self, input, **kwargs):
        mu, log_var = self.encode(input)
        z = self.reparameterize(mu, log_var)
        return [self.decode(z), input, mu, log_var]

    def loss_function(self, *args, **kwargs) -> dict:
        self.num_iter += 1
        recons = args[0]
        input = args[1]
        mu = args[2]
        log_var = args[3]
        kld_weight = kwargs['M_N']  # Account for the minibatch samples from the dataset

        recons_loss = F.mse_loss(recons, input)

        kld_loss = torch.mean(-0.5 * torch.sum(1 + log_var - mu ** 2 - log_var.exp(), dim=1), dim=0)

        if self.loss_type == 'H':  # https://openreview.net/forum?id=Sy2fzU9gl
            loss = recons_loss + self.beta * kld_weight * kld_loss
        elif self.loss_type == 'B':  # https://arxiv.org/pdf/1804.03599.pdf
            self.C_max = self.C_max.to(input.device)
            C = torch.clamp(self.C_max/self.C_stop_iter * self.num_iter, 0, self.C_max.data[0])
            loss = recons_loss + self.gamma * kld_weight * (kld_loss - C).abs()
        else:
            raise ValueError('Undefined loss type.')

        return {'loss': loss.sum(), 'Reconstruction_Loss': recons_loss, 'KLD': kld_loss}

    def sample(self, num_samples: int, current_device: int, **kwargs):
        z = torch.randn(num_samples, self.latent_dim)
        z = z.to(current_device)
        samples = self.decode(z)
        return samples

    def generate(self, x, **kwargs):
        return self.forward(x)[0]


vae_models = {'BetaVAE': BetaVAE}


class VAEXperiment:

    def __init__(self, vae_model: BaseVAE, params: dict) -> None:
        self.model = vae_model
        self.params = params
        self.curr_device = 'cpu'

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.model.parameters(),
                                     lr=self.params['LR'],
                                     weight_decay=self.params['weight_decay'])
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=self.params['scheduler_gamma'])
        return [optimizer], [scheduler]

    def training_step(self, batch, batch_idx):
        real_img, labels = batch
        results = self.model(real_img, labels=labels)
        return self.model.loss_function(*results, M_N=self.params['kld_weight'], batch_idx=batch_idx)

    def fit(self, loader, max_epochs):
        (optimizer,), (scheduler,) = self.configure_optimizers()
        for epoch in range(max_epochs):
            for batch_idx, batch in enumerate(loader):
                train_loss = self.training_step(batch, batch_idx)
                optimizer.zero_grad()
                train_loss['loss'].backward()
                optimizer.step()
                print({key: round(val.item(), 4) for key, val in train_loss.items()})
            scheduler.step()


def main():
    torch.manual_seed(CONFIG['exp_params']['manual_seed'])
    model_params = dict(CONFIG['model_params'])
    model = vae_models[model_params.pop('name')](**model_params)
    experiment = VAEXperiment(model, CONFIG['exp_params'])
    size, bs = CONFIG['data_params']['patch_size'], CONFIG['data_params']['train_batch_size']
    data = torch.utils.data.TensorDataset(torch.rand(3 * bs, 3, size, size) * 2 - 1, torch.zeros(3 * bs, 40))
    experiment.fit(torch.utils.data.DataLoader(data, batch_size=bs), **CONFIG['trainer_params'])
    model.eval()
    with torch.no_grad():
        print(model.sample(5, 'cpu').shape, model.generate(torch.rand(2, 3, size, size)).shape)


if __name__ == '__main__':
    main()
