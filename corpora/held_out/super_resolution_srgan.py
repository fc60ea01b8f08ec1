"""
Super resolution in two stages:
  * ESPCN trained with MSE
  * SRGAN: SRResNet generator + discriminator + feature loss

Patches come from the two sample images of scikit-learn when its files are there, otherwise from noise.
"""
import math
import os
import tempfile
from types import SimpleNamespace

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.optim import Adam
from torch.optim.lr_scheduler import MultiStepLR
from torch.utils.data import DataLoader, Dataset

opt = SimpleNamespace(
    upscale_factor=4,
    crop_size=48,
    n_patches=24,
    batch_size=8,
    espcn_steps=2,
    gan_steps=2,
    num_residual_blocks=3,
    base_filters=24,
    lr=1e-3,
    seed=123,
    cuda=torch.cuda.is_available(),
)


def load_source_images():
    try:
        from sklearn.datasets import load_sample_images
        return [im.astype(np.float32) / 255.0 for im in load_sample_images().images]
    except Exception:
        rng = np.random.default_rng(0)
        coarse = torch.from_numpy(rng.random((2, 3, 20, 30), dtype=np.float32))
        smooth = F.interpolate(coarse, scale_factor=12, mode="bicubic").clamp(0, 1)
        return list(smooth.permute(0, 2, 3, 1).numpy())


def rgb_to_y(img):
    """img: H x W x 3 in 0..1, returns the luma of ITU-R BT.601"""
    return (16. + img @ np.array([65.481, 128.553, 24.966], dtype=np.float32)) / 255.


class PatchDataset(Dataset):
    def __init__(self, images, crop_size, upscale_factor, n_patches, seed, y_only=False):
        self.scale = upscale_factor
        self.y_only = y_only
        self.patches = []
        rng = np.random.default_rng(seed)
        crop_size -= crop_size % upscale_factor
        for _ in range(n_patches):
            img = images[rng.integers(len(images))]
            r = rng.integers(img.shape[0] - crop_size)
            c = rng.integers(img.shape[1] - crop_size)
            patch = img[r:r + crop_size, c:c + crop_size]
            if rng.random() < 0.5:
                patch = patch[:, ::-1]
            self.patches.append(np.ascontiguousarray(patch))

    def __getitem__(self, index):
        patch = self.patches[index]
        if self.y_only:
            hr = torch.from_numpy(rgb_to_y(patch)).unsqueeze(0)
        else:
            hr = torch.from_numpy(patch).permute(2, 0, 1)
        lr = F.interpolate(hr.unsqueeze(0), scale_factor=1 / self.scale, mode="bicubic",
                           align_corners=False, antialias=True).squeeze(0)
        return lr.clamp(0, 1), hr

    def __len__(self):
        return len(self.patches)


class ESPCN(nn.Module):
    def __init__(self, scale_factor, num_channels=1):
        super(ESPCN, self).__init__()
        self.first_part = nn.Sequential(
            nn.Conv2d(num_channels, 64, kernel_size=5, padding=5 // 2),
            nn.Tanh(),
            nn.Conv2d(64, 32, kernel_size=3, padding=3 // 2),
            nn.Tanh(),
        )
        self.last_part = nn.Sequential(
            nn.Conv2d(32, num_channels * (scale_factor ** 2), kernel_size=3, padding=3 // 2),
            nn.PixelShuffle(scale_factor)
        )
        self._initialize_weights()

    def _initialize_weights(self):
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                if m.in_channels == 32:
                    nn.init.normal_(m.weight.data, mean=0.0, std=0.001)
                else:
                    fan = m.out_channels * m.weight.data[0][0].numel()
                    nn.init.normal_(m.weight.data, mean=0.0, std=math.sqrt(2 / fan))
                nn.init.zeros_(m.bias.data)

    def forward(self, x):
        x = self.first_part(x)
        x = self.last_part(x)
        return x


class ResidualBlock(nn.Module):
    def __init__(self, channels):
        super(ResidualBlock, self).__init__()
        self.conv1 = nn.Conv2d(channels, channels, kernel_size=3, padding=1)
        self.bn1 = nn.BatchNorm2d(channels)
        self.prelu = nn.PReLU()
        self.conv2 = nn.Conv2d(channels, channels, kernel_size=3, padding=1)
        self.bn2 = nn.BatchNorm2d(channels)

    def forward(self, x):
        residual = self.conv1(x)
        residual = self.bn1(residual)
        residual = self.prelu(residual)
        residual = self.conv2(residual)
        residual = self.bn2(residual)
        return x + residual


class UpsampleBLock(nn.Module):
    def __init__(self, in_channels, up_scale):
        super(UpsampleBLock, self).__init__()
        self.conv = nn.Conv2d(in_channels, in_channels * up_scale ** 2, kernel_size=3, padding=1)
        self.pixel_shuffle = nn.PixelShuffle(up_scale)
        self.prelu = nn.PReLU()

    def forward(self, x):
        return self.prelu(self.pixel_shuffle(self.conv(x)))


class Generator(nn.Module):
    def __init__(self, scale_factor, filters, n_blocks):
        upsample_block_num = int(math.log(scale_factor, 2))

        super(Generator, self).__init__()
        self.block1 = nn.Sequential(
            nn.Conv2d(3, filters, kernel_size=9, padding=4),
            nn.PReLU()
        )
        self.trunk = nn.Sequential(*[ResidualBlock(filters) for _ in range(n_blocks)])
        self.after = nn.Sequential(nn.Conv2d(filters, filters, kernel_size=3, padding=1),
                                   nn.BatchNorm2d(filters))
        tail = [UpsampleBLock(filters, 2) for _ in range(upsample_block_num)]
        tail.append(nn.Conv2d(filters, 3, kernel_size=9, padding=4))
        self.tail = nn.Sequential(*tail)

    def forward(self, x):
        block1 = self.block1(x)
        deep = self.after(self.trunk(block1))
        out = self.tail(block1 + deep)
        return (torch.tanh(out) + 1) / 2


class Discriminator(nn.Module):
    def __init__(self, filters):
        super(Discriminator, self).__init__()
        layers = [nn.Conv2d(3, filters, 3, padding=1), nn.LeakyReLU(0.2)]
        ch = filters
        for mult in (1, 2, 4):
            layers += [nn.Conv2d(ch, filters * mult, 3, stride=2, padding=1),
                       nn.BatchNorm2d(filters * mult), nn.LeakyReLU(0.2)]
            ch = filters * mult
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(ch, 2 * ch, kernel_size=1),
            nn.LeakyReLU(0.2),
            nn.Conv2d(2 * ch, 1, kernel_size=1)
        )

    def forward(self, x):
        batch_size = x.size(0)
        return self.classifier(self.features(x)).view(batch_size)


class GeneratorLoss(nn.Module):
    """pixel + feature + adversarial + total variation"""

    def __init__(self, feature_net):
        super().__init__()
        self.feature_net = feature_net

    def forward(self, fake_logits, out_images, target_images):
        adversarial = F.binary_cross_entropy_with_logits(fake_logits, torch.ones_like(fake_logits))
        perception = F.mse_loss(self.feature_net(out_images), self.feature_net(target_images).detach())
        image = F.mse_loss(out_images, target_images)
        return image + 0.001 * adversarial + 0.006 * perception + 2e-8 * self.tv(out_images)

    @staticmethod
    def tv(x):
        b, c, h, w = x.size()
        h_tv = torch.pow(x[:, :, 1:, :] - x[:, :, :h - 1, :], 2).sum()
        w_tv = torch.pow(x[:, :, :, 1:] - x[:, :, :, :w - 1], 2).sum()
        return 2 * (h_tv / (c * (h - 1) * w) + w_tv / (c * h * (w - 1))) / b


def calc_psnr(img1, img2):
    return 10. * torch.log10(1. / torch.mean((img1 - img2) ** 2))


def ssim(a, b, window=7):
    weight = torch.ones(a.size(1), 1, window, window, device=a.device) / window ** 2
    blur = lambda t: F.conv2d(t, weight, groups=t.size(1))
    mu_a, mu_b = blur(a), blur(b)
    var_a, var_b = blur(a * a) - mu_a ** 2, blur(b * b) - mu_b ** 2
    cov = blur(a * b) - mu_a * mu_b
    c1, c2 = 0.01 ** 2, 0.03 ** 2
    out = ((2 * mu_a * mu_b + c1) * (2 * cov + c2)) / ((mu_a ** 2 + mu_b ** 2 + c1) * (var_a + var_b + c2))
    return out.mean()


def train_espcn(images, device):
    loader = DataLoader(PatchDataset(images, opt.crop_size, opt.upscale_factor, opt.n_patches, 1, True),
                        batch_size=opt.batch_size, shuffle=True)
    model = ESPCN(opt.upscale_factor).to(device)
    # the last layer learns ten times slower
    optimizer = Adam([{'params': model.first_part.parameters()},
                      {'params': model.last_part.parameters(), 'lr': opt.lr * 0.1}], lr=opt.lr)
    scheduler = MultiStepLR(optimizer, milestones=[1], gamma=0.1)
    for step, (lr, hr) in zip(range(opt.espcn_steps), loader):
        lr, hr = lr.to(device), hr.to(device)
        preds = model(lr)
        loss = F.mse_loss(preds, hr)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        print(f"ESPCN step {step}: mse {loss.item():.4f} psnr {calc_psnr(preds.clamp(0, 1), hr):.2f}")
    return model


def train_srgan(images, device):
    loader = DataLoader(PatchDataset(images, opt.crop_size, opt.upscale_factor, opt.n_patches, 2),
                        batch_size=opt.batch_size, shuffle=True, drop_last=True)
    netG = Generator(opt.upscale_factor, opt.base_filters, opt.num_residual_blocks).to(device)
    netD = Discriminator(opt.base_filters).to(device)
    optimizerG = Adam(netG.parameters(), lr=opt.lr, betas=(0.9, 0.999))
    optimizerD = Adam(netD.parameters(), lr=opt.lr * 0.1)
    criterion = GeneratorLoss(netD.features[:5]).to(device)

    for step, (data, target) in zip(range(opt.gan_steps), loader):
        data, target = data.to(device), target.to(device)
        fake = netG(data)

        optimizerD.zero_grad()
        real_out, fake_out = netD(target), netD(fake.detach())
        d_loss = F.softplus(-real_out).mean() + F.softplus(fake_out).mean()
        d_loss.backward()
        optimizerD.step()

        optimizerG.zero_grad()
        g_loss = criterion(netD(fake), fake, target)
        g_loss.backward()
        optimizerG.step()
        print("SRGAN step %d: D %.4f G %.4f" % (step, d_loss.item(), g_loss.item()))
    return netG


if __name__ == "__main__":
    torch.manual_seed(opt.seed)
    device = torch.device("cuda:0" if opt.cuda else "cpu")
    images = load_source_images()
    espcn = train_espcn(images, device)
    generator = train_srgan(images, device)

    path = os.path.join(tempfile.gettempdir(), "srgan_%d.pth" % os.getpid())
    torch.save(generator.state_dict(), path)
    generator.load_state_dict(torch.load(path, map_location=device))
    os.remove(path)

    generator.eval()
    lr, hr = next(iter(DataLoader(PatchDataset(images, 64, opt.upscale_factor, 4, 9), batch_size=4)))
    with torch.no_grad():
        sr = generator(lr.to(device)).cpu()
    bicubic = F.interpolate(lr, size=hr.shape[-2:], mode="bicubic", align_corners=False).clamp(0, 1)
    for name, out in ("bicubic", bicubic), ("srgan", sr):
        print(f"{name:8s} psnr {calc_psnr(out, hr):.2f} ssim {ssim(out, hr):.3f}")
