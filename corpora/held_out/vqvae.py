import argparse
import json, pathlib
import tempfile

import numpy as np
import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset
from sklearn.datasets import load_digits


class DigitsRGB(Dataset):
    """sklearn digits, upsampled, random tint. returns dict"""

    def __init__(self, size=24, limit=None):
        d = load_digits()
        self.images = d.images[:limit]
        self.targets = d.target[:limit]
        self.size = size

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        img = torch.tensor(self.images[i], dtype=torch.float32) / 16
        img = F.interpolate(img[None, None], size=(self.size, self.size), mode='bilinear', align_corners=False)[0]
        g = torch.Generator().manual_seed(i)
        tint = 0.4 + 0.6 * torch.rand(3, 1, 1, generator=g)
        return {'image': img * tint * 2 - 1, 'label': int(self.targets[i])}


class ReZero(nn.Module):
    def __init__(self, in_channels, res_channels):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(in_channels, res_channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(res_channels),
            nn.ReLU(inplace=True),
            nn.Conv2d(res_channels, in_channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(in_channels),
            nn.ReLU(inplace=True))
        self.alpha = nn.Parameter(torch.tensor(0.0))

    def forward(self, x):
        return self.layers(x) * self.alpha + x


def res_stack(ch, res_ch, n):
    return nn.Sequential(*[ReZero(ch, res_ch) for _ in range(n)])


class Encoder(nn.Module):
    def __init__(self, in_ch, hidden, res_ch, nb_res, downscale):
        super().__init__()
        layers = []
        c, out = in_ch, hidden // 2
        for i in range(int(np.log2(downscale))):
            layers += [nn.Conv2d(c, out, 4, stride=2, padding=1), nn.BatchNorm2d(out), nn.ReLU(inplace=True)]
            c, out = out, hidden
        layers.append(nn.Conv2d(c, hidden, 3, padding=1))
        layers.append(res_stack(hidden, res_ch, nb_res))
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x)


class Decoder(nn.Module):
    def __init__(self, in_ch, hidden, out_ch, res_ch, nb_res, upscale):
        super().__init__()
        layers = [nn.Conv2d(in_ch, hidden, 3, padding=1), res_stack(hidden, res_ch, nb_res)]
        c = hidden
        n = int(np.log2(upscale))
        for i in range(n):
            o = out_ch if i == n - 1 else hidden // 2
            layers.append(nn.ConvTranspose2d(c, o, 4, stride=2, padding=1))
            if i < n - 1:
                layers += [nn.BatchNorm2d(o), nn.ReLU(inplace=True)]
            c = o
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x)


class Quantize(nn.Module):
    """EMA codebook (rosinality / sonnet)."""

    def __init__(self, dim, n_embed, decay=0.99, eps=1e-5):
        super().__init__()
        self.dim, self.n_embed, self.decay, self.eps = dim, n_embed, decay, eps
        embed = torch.randn(dim, n_embed)
        self.register_buffer('embed', embed)
        self.register_buffer('cluster_size', torch.zeros(n_embed))
        self.register_buffer('embed_avg', embed.clone())

    def forward(self, input):
        flatten = input.reshape(-1, self.dim)
        dist = (flatten.pow(2).sum(1, keepdim=True)
                - 2 * flatten @ self.embed
                + self.embed.pow(2).sum(0, keepdim=True))
        _, embed_ind = (-dist).max(1)
        embed_onehot = F.one_hot(embed_ind, self.n_embed).type(flatten.dtype)
        embed_ind = embed_ind.view(*input.shape[:-1])
        quantize = self.embed_code(embed_ind)
        if self.training:
            with torch.no_grad():
                embed_onehot_sum = embed_onehot.sum(0)
                embed_sum = flatten.transpose(0, 1) @ embed_onehot
                self.cluster_size.data.mul_(self.decay).add_(embed_onehot_sum, alpha=1 - self.decay)
                self.embed_avg.data.mul_(self.decay).add_(embed_sum, alpha=1 - self.decay)
                n = self.cluster_size.sum()
                cluster_size = (self.cluster_size + self.eps) / (n + self.n_embed * self.eps) * n
                self.embed.data.copy_(self.embed_avg / cluster_size.unsqueeze(0))
        diff = (quantize.detach() - input).pow(2).mean()
        quantize = input + (quantize - input).detach()
        probs = embed_onehot.mean(0)
        perplexity = torch.exp(-(probs * (probs + 1e-10).log()).sum())
        return quantize, diff, embed_ind, perplexity

    def embed_code(self, embed_id):
        return F.embedding(embed_id, self.embed.transpose(0, 1))


class VQVAE2(nn.Module):
    def __init__(self, in_channel=3, channel=48, n_res_block=2, n_res_channel=20, embed_dim=12, n_embed=40):
        super().__init__()
        self.enc_b = Encoder(in_channel, channel, n_res_channel, n_res_block, downscale=4)
        self.enc_t = Encoder(channel, channel, n_res_channel, n_res_block, downscale=2)
        self.quantize_conv_t = nn.Conv2d(channel, embed_dim, 1)
        self.quantize_t = Quantize(embed_dim, n_embed)
        self.dec_t = Decoder(embed_dim, channel, embed_dim, n_res_channel, n_res_block, upscale=2)
        self.quantize_conv_b = nn.Conv2d(embed_dim + channel, embed_dim, 1)
        self.quantize_b = Quantize(embed_dim, n_embed)
        self.upsample_t = nn.ConvTranspose2d(embed_dim, embed_dim, 4, stride=2, padding=1)
        self.dec = Decoder(embed_dim + embed_dim, channel, in_channel, n_res_channel, n_res_block, upscale=4)

    def encode(self, x):
        enc_b = self.enc_b(x)
        enc_t = self.enc_t(enc_b)
        quant_t = self.quantize_conv_t(enc_t).permute(0, 2, 3, 1)
        quant_t, diff_t, id_t, ppl_t = self.quantize_t(quant_t)
        quant_t = quant_t.permute(0, 3, 1, 2)
        enc_b = torch.cat([self.dec_t(quant_t), enc_b], 1)
        quant_b = self.quantize_conv_b(enc_b).permute(0, 2, 3, 1)
        quant_b, diff_b, id_b, ppl_b = self.quantize_b(quant_b)
        quant_b = quant_b.permute(0, 3, 1, 2)
        return quant_t, quant_b, diff_t + diff_b, id_t, id_b, (ppl_t, ppl_b)

    def decode(self, quant_t, quant_b):
        return self.dec(torch.cat([self.upsample_t(quant_t), quant_b], 1))

    def decode_code(self, code_t, code_b):
        quant_t = self.quantize_t.embed_code(code_t).permute(0, 3, 1, 2)
        quant_b = self.quantize_b.embed_code(code_b).permute(0, 3, 1, 2)
        return self.decode(quant_t, quant_b)

    def forward(self, x):
        qt, qb, diff, _, _, ppl = self.encode(x)
        return self.decode(qt, qb), diff, ppl


class GatedMaskedConv2d(nn.Module):
    """van den Oord et al. gated pixelcnn layer: vertical + horizontal stacks, class conditional."""

    def __init__(self, mask_type, dim, kernel, residual=True, n_classes=10):
        super().__init__()
        self.mask_type, self.residual = mask_type, residual
        self.class_cond_embedding = nn.Embedding(n_classes, 2 * dim)
        self.vert_stack = nn.Conv2d(dim, dim * 2, (kernel // 2 + 1, kernel), 1, (kernel // 2, kernel // 2))
        self.vert_to_horiz = nn.Conv2d(2 * dim, 2 * dim, 1)
        self.horiz_stack = nn.Conv2d(dim, dim * 2, (1, kernel // 2 + 1), 1, (0, kernel // 2))
        self.horiz_resid = nn.Conv2d(dim, dim, 1)

    @staticmethod
    def gate(x):
        a, b = x.chunk(2, dim=1)
        return torch.tanh(a) * torch.sigmoid(b)

    def make_causal(self):
        self.vert_stack.weight.data[:, :, -1].zero_()
        self.horiz_stack.weight.data[:, :, :, -1].zero_()

    def forward(self, x_v, x_h, label, cond):
        if self.mask_type == 'A':
            self.make_causal()
        h = self.class_cond_embedding(label)[:, :, None, None]
        if cond is not None:
            h = h + cond
        h_vert = self.vert_stack(x_v)[:, :, :x_v.size(-2), :]
        out_v = self.gate(h_vert + h)
        h_horiz = self.horiz_stack(x_h)[:, :, :, :x_h.size(-1)]
        out = self.gate(self.vert_to_horiz(h_vert) + h_horiz + h)
        out_h = self.horiz_resid(out) + x_h if self.residual else self.horiz_resid(out)
        return out_v, out_h


class GatedPixelCNN(nn.Module):
    def __init__(self, n_tokens, dim, n_layers=3, n_classes=10, cond_tokens=None):
        super().__init__()
        self.n_tokens = n_tokens
        self.embedding = nn.Embedding(n_tokens, dim)
        self.layers = nn.ModuleList()
        for i in range(n_layers):
            self.layers.append(GatedMaskedConv2d('A' if i == 0 else 'B', dim, 5 if i == 0 else 3,
                                                 residual=i > 0, n_classes=n_classes))
        if cond_tokens:
            self.cond = nn.Sequential(nn.Upsample(scale_factor=2, mode='nearest'),
                                      nn.Conv2d(cond_tokens, 2 * dim, 3, padding=1))
            self.cond_tokens = cond_tokens
        else:
            self.cond = None
        self.output_conv = nn.Sequential(nn.Conv2d(dim, 64, 1), nn.ReLU(True), nn.Conv2d(64, n_tokens, 1))

    def forward(self, x, label, cond=None):
        if cond is not None:
            cond = self.cond(F.one_hot(cond, self.cond_tokens).permute(0, 3, 1, 2).float())
        x = self.embedding(x).permute(0, 3, 1, 2)
        x_v = x_h = x
        for layer in self.layers:
            x_v, x_h = layer(x_v, x_h, label, cond)
        return self.output_conv(x_h)

    @torch.no_grad()
    def generate(self, label, shape, cond=None, temperature=1.0):
        x = torch.zeros((label.size(0), *shape), dtype=torch.int64)
        for i in range(shape[0]):
            for j in range(shape[1]):
                logits = self(x, label, cond)
                probs = F.softmax(logits[:, :, i, j] / temperature, -1)
                x.data[:, i, j].copy_(probs.multinomial(1).squeeze(-1))
        return x


def cycle_lr(optimizer, step, max_lr, total):
    pct = step / max(1, total - 1)
    lr = max_lr * (0.5 * (1 + np.cos(np.pi * pct)) * 0.9 + 0.1)
    for group in optimizer.param_groups:
        group['lr'] = lr
    return lr


def train_prior(name, model, loader, lr=3e-3, uses_cond=False):
    optimizer = optim.Adam(model.parameters(), lr=lr)
    for i, (top, bottom, label) in enumerate(loader):
        model.zero_grad()
        if uses_cond:
            target, out = bottom, model(bottom, label, cond=top)
        else:
            target, out = top, model(top, label)
        loss = F.cross_entropy(out, target)
        loss.backward()
        optimizer.step()
        correct = (out.max(1)[1] == target).float()
        print(f'{name} it {i}; loss: {loss.item():.5f}; acc: {correct.sum() / target.numel():.5f}')


def main(args):
    torch.manual_seed(args.seed)
    dataset = DigitsRGB(args.size, limit=args.limit)
    loader = DataLoader(dataset, batch_size=args.batch, shuffle=True, drop_last=True)
    model = VQVAE2(n_embed=args.n_embed)
    optimizer = optim.Adam(model.parameters(), lr=args.lr)
    mse_sum = mse_n = 0
    model.train()
    for i, batch in enumerate(loader):
        img = batch['image']
        lr = cycle_lr(optimizer, i, args.lr, len(loader))
        model.zero_grad()
        out, latent_loss, ppl = model(img)
        recon_loss = F.mse_loss(out, img)
        loss = recon_loss + 0.25 * latent_loss
        loss.backward()
        optimizer.step()
        mse_sum, mse_n = mse_sum + recon_loss.item() * len(img), mse_n + len(img)
        print(f'it {i}; latent: {latent_loss.item():.3f}; avg mse: {mse_sum / mse_n:.5f}; '
              f'ppl {ppl[0]:.1f}/{ppl[1]:.1f}; lr: {lr:.5f}')

    # extract the codes
    model.eval()
    tops, bottoms, labels = [], [], []
    with torch.no_grad():
        for batch in DataLoader(dataset, batch_size=20):
            _, _, _, id_t, id_b, _ = model.encode(batch['image'])
            tops.append(id_t)
            bottoms.append(id_b)
            labels.append(batch['label'])
    codes = TensorDataset(torch.cat(tops), torch.cat(bottoms), torch.cat(labels))
    usage = np.bincount(codes.tensors[0].numpy().ravel(), minlength=args.n_embed)
    print('code usage', int((usage > 0).sum()), '/', args.n_embed)
    code_loader = DataLoader(codes, batch_size=30, shuffle=True)
    prior_t = GatedPixelCNN(args.n_embed, 16, n_layers=3)
    prior_b = GatedPixelCNN(args.n_embed, 22, n_layers=2, cond_tokens=args.n_embed)
    train_prior('top', prior_t, code_loader)
    train_prior('bottom', prior_b, code_loader, uses_cond=True)

    with tempfile.TemporaryDirectory() as tmp:
        tmp = pathlib.Path(tmp)
        torch.save({'vqvae': model.state_dict(), 'top': prior_t.state_dict()}, tmp / 'ckpt.pt')
        (tmp / 'args.json').write_text(json.dumps(vars(args)))
        model.load_state_dict(torch.load(tmp / 'ckpt.pt')['vqvae'])

    label = torch.arange(5)
    top = prior_t.generate(label, tuple(codes.tensors[0].shape[1:]))
    bottom = prior_b.generate(label, tuple(codes.tensors[1].shape[1:]), cond=top, temperature=0.8)
    with torch.no_grad():
        samples = model.decode_code(top, bottom).clamp(-1, 1)
    print('samples', samples.shape, 'grid', torch.cat(list(samples), dim=-1).shape)


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--size', type=int, default=24)
    parser.add_argument('--limit', type=int, default=90)
    parser.add_argument('--batch', type=int, default=28)
    parser.add_argument('--n_embed', type=int, default=36)
    parser.add_argument('--lr', type=float, default=1e-3)
    parser.add_argument('--seed', type=int, default=3)
    main(parser.parse_args())
