# A small zoo: ConvNeXt, EfficientNet-ish, SE-ResNeXt, Inception; picked by name as in timm.
import argparse
import math
import sys
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F

_ENTRYPOINTS = {}


def register_model(fn):
    _ENTRYPOINTS[fn.__name__] = fn
    return fn


def create_model(name, **kwargs):
    if name not in _ENTRYPOINTS:
        raise RuntimeError('Unknown model (%s)' % name)
    kwargs = {k: v for k, v in kwargs.items() if v is not None}
    return _ENTRYPOINTS[name](**kwargs)


# ---------------------------------------------------------------- ConvNeXt
class LayerNorm2d(nn.LayerNorm):
    def forward(self, x):
        x = x.permute(0, 2, 3, 1)
        x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        return x.permute(0, 3, 1, 2)


class ConvNeXtBlock(nn.Module):
    def __init__(self, dim, layer_scale_init_value=1e-6):
        super().__init__()
        self.dwconv = nn.Conv2d(dim, dim, kernel_size=7, padding=3, groups=dim)  # depthwise conv
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        self.pwconv1 = nn.Linear(dim, 4 * dim)  # pointwise/1x1 convs, implemented with linear layers
        self.act = nn.GELU()
        self.pwconv2 = nn.Linear(4 * dim, dim)
        self.gamma = nn.Parameter(layer_scale_init_value * torch.ones((dim)), requires_grad=True) \
            if layer_scale_init_value > 0 else None

    def forward(self, x):
        input = x
        x = self.dwconv(x)
        x = x.permute(0, 2, 3, 1)  # (N, C, H, W) -> (N, H, W, C)
        x = self.norm(x)
        x = self.pwconv1(x)
        x = self.act(x)
        x = self.pwconv2(x)
        if self.gamma is not None:
            x = self.gamma * x
        x = x.permute(0, 3, 1, 2)  # (N, H, W, C) -> (N, C, H, W)
        return input + x


class ConvNeXt(nn.Module):
    def __init__(self, in_chans=3, num_classes=10, depths=(1, 1, 2), dims=(8, 16, 24)):
        super().__init__()
        self.downsample_layers = nn.ModuleList()
        stem = nn.Sequential(nn.Conv2d(in_chans, dims[0], kernel_size=4, stride=4), LayerNorm2d(dims[0], eps=1e-6))
        self.downsample_layers.append(stem)
        for i in range(len(dims) - 1):
            self.downsample_layers.append(nn.Sequential(
                LayerNorm2d(dims[i], eps=1e-6),
                nn.Conv2d(dims[i], dims[i + 1], kernel_size=2, stride=2),
            ))
        self.stages = nn.ModuleList()
        for i, depth in enumerate(depths):
            self.stages.append(nn.Sequential(*[ConvNeXtBlock(dim=dims[i]) for j in range(depth)]))
        self.norm = nn.LayerNorm(dims[-1], eps=1e-6)  # final norm layer
        self.head = nn.Linear(dims[-1], num_classes)

    def forward(self, x):
        for down, stage in zip(self.downsample_layers, self.stages):
            x = stage(down(x))
        return self.head(self.norm(x.mean([-2, -1])))  # global average pooling


# ---------------------------------------------------------------- EfficientNet
class SqueezeExcite(nn.Module):
    def __init__(self, in_chs, rd_ratio=0.25, act_layer=nn.SiLU):
        super().__init__()
        rd_channels = max(1, int(in_chs * rd_ratio))
        self.conv_reduce = nn.Conv2d(in_chs, rd_channels, 1)
        self.act1 = act_layer(inplace=True)
        self.conv_expand = nn.Conv2d(rd_channels, in_chs, 1)

    def forward(self, x):
        x_se = x.mean((2, 3), keepdim=True)
        x_se = self.conv_expand(self.act1(self.conv_reduce(x_se)))
        return x * x_se.sigmoid()


class MBConv(nn.Module):
    def __init__(self, c_in, c_out, k=3, s=1, e=6, se=True):
        super().__init__()
        mid = c_in * e
        bn = partial(nn.BatchNorm2d, eps=1e-3)
        self.expand = nn.Sequential(nn.Conv2d(c_in, mid, 1, bias=False), bn(mid), nn.SiLU()) if e != 1 else nn.Identity()
        self.dw = nn.Sequential(nn.Conv2d(mid, mid, k, s, k // 2, groups=mid, bias=False), bn(mid), nn.SiLU())
        self.se = SqueezeExcite(mid) if se else nn.Identity()
        self.project = nn.Sequential(nn.Conv2d(mid, c_out, 1, bias=False), bn(c_out))
        self.skip = s == 1 and c_in == c_out

    def forward(self, x):
        y = self.project(self.se(self.dw(self.expand(x))))
        return x + y if self.skip else y


def decode_block(s):
    """'r2_k5_s2_e6_c40' -> dict"""
    ops = s.split('_')
    return {op[0]: int(op[1:]) for op in ops}


class EfficientNet(nn.Module):
    ARCH = ['r1_k3_s1_e1_c8', 'r2_k3_s2_e4_c12', 'r1_k5_s2_e4_c20']

    def __init__(self, num_classes=10, width=1.0, depth=1.0, stem=16, head=48):
        super().__init__()
        scale = lambda c: int(math.ceil(c * width / 4) * 4)
        chs = scale(stem)
        self.conv_stem = nn.Sequential(nn.Conv2d(3, chs, 3, 2, 1, bias=False), nn.BatchNorm2d(chs), nn.SiLU())
        blocks = []
        for spec in map(decode_block, self.ARCH):
            for i in range(int(math.ceil(spec['r'] * depth))):
                out = scale(spec['c'])
                blocks.append(MBConv(chs, out, k=spec['k'], s=spec['s'] if i == 0 else 1, e=spec['e']))
                chs = out
        self.blocks = nn.Sequential(*blocks)
        self.conv_head = nn.Conv2d(chs, head, 1)
        self.classifier = nn.Linear(head, num_classes)

    def forward(self, x):
        x = F.silu(self.conv_head(self.blocks(self.conv_stem(x))))
        return self.classifier(F.adaptive_avg_pool2d(x, 1).flatten(1))


# ---------------------------------------------------------------- Inception
class BasicConv2d(nn.Module):
    def __init__(self, in_channels, out_channels, **kwargs):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, bias=False, **kwargs)
        self.bn = nn.BatchNorm2d(out_channels, eps=0.001)

    def forward(self, x):
        return F.relu(self.bn(self.conv(x)), inplace=True)


class Inception(nn.Module):
    def __init__(self, in_channels, ch1x1, ch3x3red, ch3x3, ch5x5red, ch5x5, pool_proj):
        super().__init__()
        self.branch1 = BasicConv2d(in_channels, ch1x1, kernel_size=1)
        self.branch2 = nn.Sequential(BasicConv2d(in_channels, ch3x3red, kernel_size=1),
                                     BasicConv2d(ch3x3red, ch3x3, kernel_size=3, padding=1))
        self.branch3 = nn.Sequential(BasicConv2d(in_channels, ch5x5red, kernel_size=1),
                                     BasicConv2d(ch5x5red, ch5x5, kernel_size=5, padding=2))
        self.branch4 = nn.Sequential(nn.MaxPool2d(kernel_size=3, stride=1, padding=1, ceil_mode=True),
                                     BasicConv2d(in_channels, pool_proj, kernel_size=1))

    def forward(self, x):
        return torch.cat([self.branch1(x), self.branch2(x), self.branch3(x), self.branch4(x)], 1)


class GoogLeNet(nn.Module):
    def __init__(self, num_classes=10, aux_logits=True):
        super().__init__()
        self.aux_logits = aux_logits
        self.conv1 = BasicConv2d(3, 16, kernel_size=3, stride=2, padding=1)
        self.inception3a = Inception(16, 8, 6, 12, 2, 4, 4)
        self.inception3b = Inception(28, 12, 8, 16, 4, 8, 4)
        self.maxpool = nn.MaxPool2d(3, stride=2, ceil_mode=True)
        self.inception4 = Inception(40, 16, 8, 20, 4, 6, 6)
        self.aux = nn.Sequential(nn.AdaptiveAvgPool2d((2, 2)), nn.Flatten(), nn.Linear(40 * 4, num_classes))
        self.dropout = nn.Dropout(0.2)
        self.fc = nn.Linear(48, num_classes)

    def forward(self, x):
        x = self.conv1(x)
        x = self.inception3a(x)
        x = self.inception3b(x)
        aux = self.aux(x) if self.aux_logits and self.training else None
        x = self.inception4(self.maxpool(x))
        x = F.adaptive_avg_pool2d(x, (1, 1))
        x = self.fc(self.dropout(torch.flatten(x, 1)))
        return (x, aux) if aux is not None else x


# ---------------------------------------------------------------- VGG
cfgs = {
    'A': [8, 'M', 16, 'M', 24, 24, 'M'],
    'B': [8, 8, 'M', 16, 16, 'M', 24, 24, 'M'],
}


def make_layers(cfg, batch_norm=False):
    layers = []
    in_channels = 3
    for v in cfg:
        if v == 'M':
            layers += [nn.MaxPool2d(kernel_size=2, stride=2)]
        else:
            conv2d = nn.Conv2d(in_channels, v, kernel_size=3, padding=1)
            if batch_norm:
                layers += [conv2d, nn.BatchNorm2d(v), nn.ReLU(inplace=True)]
            else:
                layers += [conv2d, nn.ReLU(inplace=True)]
            in_channels = v
    return nn.Sequential(*layers)


class VGG(nn.Module):
    def __init__(self, features, num_classes=10):
        super().__init__()
        self.features = features
        self.avgpool = nn.AdaptiveAvgPool2d((3, 3))
        self.classifier = nn.Sequential(
            nn.Linear(24 * 3 * 3, 64), nn.ReLU(True), nn.Dropout(), nn.Linear(64, num_classes))

    def forward(self, x):
        x = self.avgpool(self.features(x))
        return self.classifier(x.reshape(x.shape[0], -1))


@register_model
def convnext_nano(**kwargs):
    return ConvNeXt(**kwargs)


@register_model
def efficientnet_toy(**kwargs):
    return EfficientNet(width=1.1, depth=1.2, **kwargs)


@register_model
def googlenet(**kwargs):
    return GoogLeNet(**kwargs)


@register_model
def vgg_a(**kwargs):
    return VGG(make_layers(cfgs['A'], batch_norm=True), **kwargs)


@register_model
def vgg_b(**kwargs):
    return VGG(make_layers(cfgs['B']), **kwargs)


def train_one_epoch(model, batches, optimizer, loss_fn, amp_dtype=None):
    model.train()
    for input, target in batches:
        with torch.autocast('cpu', dtype=amp_dtype or torch.bfloat16, enabled=amp_dtype is not None):
            output = model(input)
            if isinstance(output, tuple):
                output, aux = output
                loss = loss_fn(output, target) + 0.3 * loss_fn(aux, target)
            else:
                loss = loss_fn(output, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument('--model', nargs='*', default=sorted(_ENTRYPOINTS))
    parser.add_argument('--num-classes', type=int, default=6)
    parser.add_argument('--img-size', type=int, default=40)
    parser.add_argument('-b', '--batch-size', type=int, default=4)
    args = parser.parse_args(argv)
    torch.manual_seed(0)
    for name in args.model:
        model = create_model(name, num_classes=args.num_classes)
        optimizer = torch.optim.SGD(model.parameters(), 0.01)
        batches = [(torch.randn(args.batch_size, 3, args.img_size, args.img_size),
                    torch.randint(args.num_classes, (args.batch_size,))) for _ in range(2)]
        loss = train_one_epoch(model, batches, optimizer, nn.CrossEntropyLoss())
        model.eval()
        with torch.no_grad():
            prob = model(batches[0][0]).softmax(1)
        print(f'{name:>18} {loss:.3f} {prob.max(1).values.mean():.3f}', file=sys.stderr)


if __name__ == '__main__':
    main()
