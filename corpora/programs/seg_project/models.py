import torch
import torch.nn as nn
import torch.nn.functional as F


class DoubleConv(nn.Module):
    def __init__(self, in_ch, out_ch, mid_ch=None):
        super().__init__()
        mid_ch = mid_ch or out_ch
        self.double_conv = nn.Sequential(
            nn.Conv2d(in_ch, mid_ch, 3, padding=1, bias=False), nn.InstanceNorm2d(mid_ch, affine=True), nn.LeakyReLU(0.01, inplace=True),
            nn.Conv2d(mid_ch, out_ch, 3, padding=1, bias=False), nn.InstanceNorm2d(out_ch, affine=True), nn.LeakyReLU(0.01, inplace=True))

    def forward(self, x):
        return self.double_conv(x)


class AttentionGate(nn.Module):
    def __init__(self, F_g, F_l, F_int):
        super().__init__()
        self.W_g = nn.Sequential(nn.Conv2d(F_g, F_int, 1), nn.BatchNorm2d(F_int))
        self.W_x = nn.Sequential(nn.Conv2d(F_l, F_int, 1), nn.BatchNorm2d(F_int))
        self.psi = nn.Sequential(nn.Conv2d(F_int, 1, 1), nn.BatchNorm2d(1), nn.Sigmoid())

    def forward(self, g, x):
        return x * self.psi(F.relu(self.W_g(g) + self.W_x(x)))


class Up(nn.Module):
    def __init__(self, in_ch, skip_ch, out_ch, bilinear):
        super().__init__()
        if bilinear:
            self.up = nn.Sequential(nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), nn.Conv2d(in_ch, out_ch, 1))
        else:
            self.up = nn.ConvTranspose2d(in_ch, out_ch, kernel_size=2, stride=2)
        self.gate = AttentionGate(out_ch, skip_ch, max(out_ch // 2, 1))
        self.conv = DoubleConv(out_ch + skip_ch, out_ch)

    def forward(self, x, skip):
        x = self.up(x)
        dy, dx = skip.size(2) - x.size(2), skip.size(3) - x.size(3)
        x = F.pad(x, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
        skip = self.gate(x, skip)
        return self.conv(torch.cat([skip, x], dim=1))


class UNet(nn.Module):
    def __init__(self, in_channels, num_classes, features, bilinear=False, deep_supervision=False):
        super().__init__()
        self.inc = DoubleConv(in_channels, features[0])
        self.downs = nn.ModuleList(DoubleConv(a, b) for a, b in zip(features, features[1:]))
        self.pool = nn.MaxPool2d(2)
        self.bottleneck = DoubleConv(features[-1], features[-1] * 2)
        self.ups = nn.ModuleList()
        ch = features[-1] * 2
        for f in features[::-1]:
            self.ups.append(Up(ch, f, f, bilinear))
            ch = f
        self.outc = nn.Conv2d(features[0], num_classes, 1)
        self.aux = nn.ModuleList([nn.Conv2d(f, num_classes, 1) for f in features[:0:-1]]) if deep_supervision else None

    def forward(self, x):
        size = x.shape[2:]
        skips = [self.inc(x)]
        for down in self.downs:
            skips.append(down(self.pool(skips[-1])))
        x = self.bottleneck(self.pool(skips[-1]))
        feats = []
        for up, skip in zip(self.ups, reversed(skips)):
            x = up(x, skip)
            feats.append(x)
        out = {"out": self.outc(x)}
        if self.training and self.aux is not None:
            out["aux"] = [F.interpolate(head(f), size=size, mode="bilinear", align_corners=False) for head, f in zip(self.aux, feats)]
        return out


MODELS = {"unet": UNet}


def build_model(cfg, num_classes):
    kwargs = {k: v for k, v in cfg.items() if k != "name"}
    return MODELS[cfg["name"]](num_classes=num_classes, **kwargs)
