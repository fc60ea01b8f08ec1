import os
import tempfile
from collections import OrderedDict

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils import data

cfg = dict(
    num_classes=4, image_size=48, ignore_index=255,
    backbone='resnet_tiny', width=12, output_stride=8,
    head='deeplabv3plus', aspp_rates=(2, 4, 6),
    lr=0.02, momentum=0.9, weight_decay=1e-4,
    batch_size=4, val_batch_size=2, total_itrs=3,
)

MEAN = np.array([0.5, 0.45, 0.4], dtype=np.float32)
STD = np.array([0.25, 0.25, 0.25], dtype=np.float32)


class ShapesSegmentation(data.Dataset):
    """Background, square, disc, triangle. Borders are labelled 255 like in VOC."""

    def __init__(self, length, size, train=True):
        self.length, self.size, self.train = length, size, train

    def __len__(self):
        return self.length

    def __getitem__(self, idx):
        rng = np.random.RandomState(idx if not self.train else idx + 10000)
        s = self.size
        img = rng.rand(s, s, 3).astype(np.float32) * 0.2
        mask = np.zeros((s, s), dtype=np.uint8)
        yy, xx = np.mgrid[0:s, 0:s]
        for _ in range(3):
            cls = rng.randint(1, 4)
            cy, cx = rng.randint(8, s - 8, size=2)
            r = rng.randint(5, 12)
            if cls == 1:
                region = (np.abs(yy - cy) < r) & (np.abs(xx - cx) < r)
            elif cls == 2:
                region = (yy - cy) ** 2 + (xx - cx) ** 2 < r ** 2
            else:
                region = (yy > cy - r) & (yy < cy + r) & (np.abs(xx - cx) < (yy - cy + r) / 2)
            img[region] = rng.rand(3) * 0.6 + 0.4
            mask[region] = cls
        edge = np.zeros_like(mask, dtype=bool)
        edge[:, 1:] |= mask[:, 1:] != mask[:, :-1]
        mask[edge] = 255
        if self.train and rng.rand() < 0.5:
            img, mask = img[:, ::-1], mask[:, ::-1]
        img = ((img - MEAN) / STD).transpose(2, 0, 1).copy()
        return torch.from_numpy(img), torch.from_numpy(mask.astype('int64'))


class IntermediateLayerGetter(nn.ModuleDict):
    def __init__(self, model, return_layers):
        super().__init__(OrderedDict(model.named_children()))
        self.return_layers = return_layers

    def forward(self, x):
        out = OrderedDict()
        for name, module in self.items():
            x = module(x)
            if name in self.return_layers:
                out[self.return_layers[name]] = x
        return out


def conv_bn(cin, cout, k=3, stride=1, dilation=1, act=True):
    pad = dilation * (k - 1) // 2
    mods = [nn.Conv2d(cin, cout, k, stride, pad, dilation=dilation, bias=False), nn.BatchNorm2d(cout)]
    if act:
        mods.append(nn.ReLU(inplace=True))
    return nn.Sequential(*mods)


class BasicBlock(nn.Module):
    def __init__(self, cin, cout, stride=1, dilation=1):
        super().__init__()
        self.conv1 = conv_bn(cin, cout, stride=stride, dilation=dilation)
        self.conv2 = conv_bn(cout, cout, dilation=dilation, act=False)
        need = stride != 1 or cin != cout
        self.downsample = conv_bn(cin, cout, k=1, stride=stride, act=False) if need else None

    def forward(self, x):
        identity = x if self.downsample is None else self.downsample(x)
        return F.relu(self.conv2(self.conv1(x)) + identity)


def resnet_tiny(width, output_stride):
    strides, dilations = {16: ((1, 2, 2, 2), (1, 1, 1, 1)),
                          8: ((1, 2, 2, 1), (1, 1, 1, 2))}[output_stride]
    net = OrderedDict(stem=conv_bn(3, width, stride=2 if output_stride == 8 else 1))
    cin = width
    for i in range(4):
        cout = width * 2 ** min(i, 2)
        net['layer%d' % (i + 1)] = nn.Sequential(BasicBlock(cin, cout, strides[i], dilations[i]),
                                                 BasicBlock(cout, cout, 1, dilations[i]))
        cin = cout
    return nn.Sequential(net), cin, width


class ASPPPooling(nn.Sequential):
    def __init__(self, cin, cout):
        super().__init__(nn.AdaptiveAvgPool2d(1), nn.Conv2d(cin, cout, 1), nn.ReLU(inplace=True))

    def forward(self, x):
        size = x.shape[-2:]
        return F.interpolate(super().forward(x), size=size, mode='bilinear', align_corners=False)


class ASPP(nn.Module):
    def __init__(self, cin, rates, cout):
        super().__init__()
        modules = [conv_bn(cin, cout, k=1)]
        modules += [conv_bn(cin, cout, dilation=r) for r in rates]
        modules.append(ASPPPooling(cin, cout))
        self.convs = nn.ModuleList(modules)
        self.project = nn.Sequential(conv_bn(len(modules) * cout, cout, k=1), nn.Dropout(0.1))

    def forward(self, x):
        return self.project(torch.cat([conv(x) for conv in self.convs], dim=1))


class DeepLabHeadV3Plus(nn.Module):
    def __init__(self, in_channels, low_level_channels, num_classes, rates, mid=16, low=8):
        super().__init__()
        self.project = conv_bn(low_level_channels, low, k=1)
        self.aspp = ASPP(in_channels, rates, mid)
        self.classifier = nn.Sequential(conv_bn(low + mid, mid), nn.Conv2d(mid, num_classes, 1))

    def forward(self, feature):
        low = self.project(feature['low_level'])
        out = self.aspp(feature['out'])
        out = F.interpolate(out, size=low.shape[2:], mode='bilinear', align_corners=False)
        return self.classifier(torch.cat([low, out], dim=1))


class SegmentationModel(nn.Module):
    def __init__(self, backbone, classifier):
        super().__init__()
        self.backbone, self.classifier = backbone, classifier

    def forward(self, x):
        h, w = x.shape[-2:]
        y = self.classifier(self.backbone(x))
        return F.interpolate(y, size=(h, w), mode='bilinear', align_corners=False)


BACKBONES = {'resnet_tiny': resnet_tiny}
HEADS = {'deeplabv3plus': DeepLabHeadV3Plus}


def build_model(c):
    net, c_out, c_low = BACKBONES[c['backbone']](c['width'], c['output_stride'])
    head = HEADS[c['head']](c_out, c_low, c['num_classes'], c['aspp_rates'])
    return SegmentationModel(IntermediateLayerGetter(net, {'layer4': 'out', 'layer1': 'low_level'}), head)


class StreamSegMetrics:
    def __init__(self, n):
        self.n, self.hist = n, np.zeros((n, n))

    def update(self, gts, preds):
        for lt, lp in zip(gts, preds):
            lt, lp = lt.flatten(), lp.flatten()
            mask = (lt >= 0) & (lt < self.n)
            self.hist += np.bincount(self.n * lt[mask] + lp[mask], minlength=self.n ** 2).reshape(self.n, self.n)

    def results(self):
        diag = np.diag(self.hist)
        with np.errstate(divide='ignore', invalid='ignore'):
            iu = diag / (self.hist.sum(axis=1) + self.hist.sum(axis=0) - diag)
        return {'acc': diag.sum() / self.hist.sum(), 'miou': np.nanmean(iu), 'iu': dict(enumerate(iu.round(3)))}


def validate(model, loader):
    metrics = StreamSegMetrics(cfg['num_classes'])
    model.eval()
    with torch.no_grad():
        for images, labels in loader:
            preds = model(images).max(dim=1)[1].cpu().numpy()
            metrics.update(labels.numpy(), preds)
    model.train()
    return metrics.results()


def main():
    torch.manual_seed(1)
    train_loader = data.DataLoader(ShapesSegmentation(40, cfg['image_size']), cfg['batch_size'], shuffle=True)
    val_loader = data.DataLoader(ShapesSegmentation(6, cfg['image_size'], train=False), cfg['val_batch_size'])
    model = build_model(cfg)
    optimizer = torch.optim.SGD([{'params': model.backbone.parameters(), 'lr': 0.1 * cfg['lr']},
                                 {'params': model.classifier.parameters()}],
                                lr=cfg['lr'], momentum=cfg['momentum'], weight_decay=cfg['weight_decay'])
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda i: (1 - i / (cfg['total_itrs'] + 1)) ** 0.9)
    criterion = nn.CrossEntropyLoss(ignore_index=cfg['ignore_index'])
    for itr, (images, labels) in enumerate(train_loader, 1):
        outputs = model(images)
        loss = criterion(outputs, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        print('Itr %d/%d loss %.4f lr %.5f' % (itr, cfg['total_itrs'], loss.item(), scheduler.get_last_lr()[-1]))
        if itr >= cfg['total_itrs']:
            break
    print(validate(model, val_loader))
    path = os.path.join(tempfile.gettempdir(), 'deeplab_tiny_%d.pth' % os.getpid())
    torch.save({'model_state': model.state_dict(), 'cfg': cfg}, path)
    print('saved', os.path.getsize(path), 'bytes')
    os.remove(path)


if __name__ == '__main__':
    main()
