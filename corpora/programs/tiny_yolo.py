import os, sys, time
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

CFG = dict(
    img_size=32,
    classes=['box', 'ball', 'bar'],
    anchors=[(6, 6), (10, 14), (16, 8)],
    stride=8,
    backbone=[(8, 1), (16, 2), (24, 1)],
    ignore_thres=0.5,
    train=dict(batch=4, epochs=1, lr=1e-3, momentum=0.9),
)


class ShapesDataset(Dataset):
    """Images with up to 3 rectangles; targets are (n, 5): class, cx, cy, w, h in 0..1"""

    def __init__(self, n, size, num_classes):
        self.n, self.size, self.nc = n, size, num_classes

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        rs = np.random.RandomState(i)
        img = rs.rand(self.size, self.size, 3).astype('float32') * .1
        k = rs.randint(1, 4)
        labels = np.zeros((k, 5), dtype='float32')
        for j in range(k):
            w, h = rs.randint(4, 16, size=2)
            x, y = rs.randint(0, self.size - w), rs.randint(0, self.size - h)
            c = rs.randint(self.nc)
            img[y:y + h, x:x + w, c] += 1
            labels[j] = c, (x + w / 2) / self.size, (y + h / 2) / self.size, w / self.size, h / self.size
        img = np.ascontiguousarray(img.transpose(2, 0, 1))
        return torch.from_numpy(img), torch.from_numpy(labels)

    @staticmethod
    def collate_fn(batch):
        imgs, labels = list(zip(*batch))
        targets = []
        for i, l in enumerate(labels):
            t = torch.zeros(len(l), 6)
            t[:, 0] = i
            t[:, 1:] = l
            targets.append(t)
        return torch.stack(imgs, 0), torch.cat(targets, 0)


def autopad(k, p=None):
    return p if p is not None else k // 2


class Conv(nn.Module):
    def __init__(self, c1, c2, k=1, s=1, p=None, act=True):
        super().__init__()
        self.conv = nn.Conv2d(c1, c2, k, s, autopad(k, p), bias=False)
        self.bn = nn.BatchNorm2d(c2)
        self.act = nn.SiLU() if act else nn.Identity()

    def forward(self, x):
        return self.act(self.bn(self.conv(x)))


class Bottleneck(nn.Module):
    def __init__(self, c1, c2, shortcut=True, e=0.5):
        super().__init__()
        c_ = int(c2 * e)
        self.cv1 = Conv(c1, c_, 1)
        self.cv2 = Conv(c_, c2, 3)
        self.add = shortcut and c1 == c2

    def forward(self, x):
        return x + self.cv2(self.cv1(x)) if self.add else self.cv2(self.cv1(x))


class C3(nn.Module):
    def __init__(self, c1, c2, n=1, shortcut=True, e=0.5):
        super().__init__()
        c_ = int(c2 * e)
        self.cv1 = Conv(c1, c_, 1, 1)
        self.cv2 = Conv(c1, c_, 1, 1)
        self.cv3 = Conv(2 * c_, c2, 1)
        self.m = nn.Sequential(*[Bottleneck(c_, c_, shortcut, e=1.0) for _ in range(n)])

    def forward(self, x):
        return self.cv3(torch.cat((self.m(self.cv1(x)), self.cv2(x)), dim=1))


class SPPF(nn.Module):
    def __init__(self, c1, c2, k=5):
        super().__init__()
        c_ = c1 // 2
        self.cv1 = Conv(c1, c_, 1, 1)
        self.cv2 = Conv(c_ * 4, c2, 1, 1)
        self.m = nn.MaxPool2d(kernel_size=k, stride=1, padding=k // 2)

    def forward(self, x):
        x = self.cv1(x)
        y1 = self.m(x)
        y2 = self.m(y1)
        return self.cv2(torch.cat([x, y1, y2, self.m(y2)], 1))


class YOLOLayer(nn.Module):
    def __init__(self, anchors, nc, stride):
        super().__init__()
        self.anchors = torch.Tensor(anchors)
        self.na = len(anchors)
        self.nc = nc
        self.no = nc + 5
        self.stride = stride
        self.register_buffer('anchor_vec', (self.anchors / stride).view(1, self.na, 1, 1, 2))

    def grid(self, nx, ny):
        yv, xv = torch.meshgrid([torch.arange(ny), torch.arange(nx)], indexing='ij')
        return torch.stack((xv, yv), 2).view((1, 1, ny, nx, 2)).float()

    def forward(self, p):
        bs, _, ny, nx = p.shape
        p = p.view(bs, self.na, self.no, ny, nx).permute(0, 1, 3, 4, 2).contiguous()
        if self.training:
            return p
        io = p.clone()
        io[..., :2] = torch.sigmoid(io[..., :2]) + self.grid(nx, ny)
        io[..., 2:4] = torch.exp(io[..., 2:4]) * self.anchor_vec
        io[..., :4] *= self.stride
        torch.sigmoid_(io[..., 4:])
        return io.view(bs, -1, self.no), p


class Darknet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        nc = len(cfg['classes'])
        ch = [3]
        layers = []
        for c, n in cfg['backbone']:
            layers.append(Conv(ch[-1], c, 3, 2))
            layers.append(C3(c, c, n))
            ch.append(c)
        layers.append(SPPF(ch[-1], ch[-1]))
        self.backbone = nn.Sequential(*layers)
        self.yolo = YOLOLayer(cfg['anchors'], nc, cfg['stride'])
        self.head = nn.Conv2d(ch[-1], self.yolo.na * self.yolo.no, 1)

    def forward(self, x):
        return self.yolo(self.head(self.backbone(x)))


def wh_iou(wh1, wh2):
    wh1 = wh1[:, None]
    wh2 = wh2[None]
    inter = torch.min(wh1, wh2).prod(2)
    return inter / (wh1.prod(2) + wh2.prod(2) - inter)


def bbox_iou(box1, box2, eps=1e-7):
    b1_x1, b1_x2 = box1[:, 0] - box1[:, 2] / 2, box1[:, 0] + box1[:, 2] / 2
    b1_y1, b1_y2 = box1[:, 1] - box1[:, 3] / 2, box1[:, 1] + box1[:, 3] / 2
    b2_x1, b2_x2 = box2[:, 0] - box2[:, 2] / 2, box2[:, 0] + box2[:, 2] / 2
    b2_y1, b2_y2 = box2[:, 1] - box2[:, 3] / 2, box2[:, 1] + box2[:, 3] / 2
    inter = (torch.min(b1_x2, b2_x2) - torch.max(b1_x1, b2_x1)).clamp(0) * \
            (torch.min(b1_y2, b2_y2) - torch.max(b1_y1, b2_y1)).clamp(0)
    union = box1[:, 2] * box1[:, 3] + box2[:, 2] * box2[:, 3] - inter + eps
    return inter / union


def build_targets(p, targets, layer):
    gain = torch.ones(6)
    gain[2:] = torch.tensor(p.shape)[[3, 2, 3, 2]]
    t = targets * gain
    anchors = layer.anchor_vec.view(-1, 2)
    iou = wh_iou(anchors, t[:, 4:6])
    a = iou.argmax(0)
    b, c = t[:, :2].long().T
    gxy, gwh = t[:, 2:4], t[:, 4:6]
    gij = gxy.long()
    gi, gj = gij.T
    indices = (b, a, gj.clamp_(0, p.shape[2] - 1), gi.clamp_(0, p.shape[3] - 1))
    return c, torch.cat((gxy - gij, gwh), 1), indices, anchors[a]


def compute_loss(p, targets, layer):
    bce = nn.BCEWithLogitsLoss()
    tobj = torch.zeros_like(p[..., 0])
    tcls, tbox, (b, a, gj, gi), anch = build_targets(p, targets, layer)
    lbox, lcls = torch.zeros(1), torch.zeros(1)
    n = b.shape[0]
    if n:
        ps = p[b, a, gj, gi]
        pxy = ps[:, :2].sigmoid()
        pwh = ps[:, 2:4].exp().clamp(max=1e3) * anch
        iou = bbox_iou(torch.cat((pxy, pwh), 1), tbox)
        lbox += (1.0 - iou).mean()
        tobj[b, a, gj, gi] = iou.detach().clamp(0).type(tobj.dtype)
        t = torch.full_like(ps[:, 5:], 0.05)
        t[range(n), tcls] = 0.95
        lcls += bce(ps[:, 5:], t)
    lobj = bce(p[..., 4], tobj)
    loss = 3.5 * lbox + lobj + 0.5 * lcls
    return loss * p.shape[0], torch.cat((lbox, lobj.view(1), lcls)).detach()


def xywh2xyxy(x):
    y = torch.zeros_like(x)
    y[:, 0] = x[:, 0] - x[:, 2] / 2
    y[:, 1] = x[:, 1] - x[:, 3] / 2
    y[:, 2] = x[:, 0] + x[:, 2] / 2
    y[:, 3] = x[:, 1] + x[:, 3] / 2
    return y


def non_max_suppression(prediction, conf_thres=0.2, max_det=10):
    output = [torch.zeros((0, 6))] * prediction.shape[0]
    for xi, x in enumerate(prediction):
        x = x[x[:, 4] > conf_thres]
        if not x.shape[0]:
            continue
        x[:, 5:] *= x[:, 4:5]
        box = xywh2xyxy(x[:, :4])
        conf, j = x[:, 5:].max(1, keepdim=True)
        x = torch.cat((box, conf, j.float()), 1)
        x = x[x[:, 4].argsort(descending=True)[:max_det]]
        output[xi] = x
    return output


def main():
    np.random.seed(0)
    torch.manual_seed(0)
    hyp = CFG['train']
    dataset = ShapesDataset(10, CFG['img_size'], len(CFG['classes']))
    loader = DataLoader(dataset, batch_size=hyp['batch'], shuffle=True, collate_fn=ShapesDataset.collate_fn)
    model = Darknet(CFG)
    pg0, pg1 = [], []
    for k, v in model.named_parameters():
        (pg1 if k.endswith('conv.weight') else pg0).append(v)
    optimizer = torch.optim.SGD(pg0, lr=hyp['lr'], momentum=hyp['momentum'], nesterov=True)
    optimizer.add_param_group({'params': pg1, 'weight_decay': 5e-4})
    nb = len(loader)
    for epoch in range(hyp['epochs']):
        model.train()
        mloss = torch.zeros(3)
        t0 = time.time()
        for i, (imgs, targets) in enumerate(loader):
            pred = model(imgs)
            loss, loss_items = compute_loss(pred, targets, model.yolo)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            mloss = (mloss * i + loss_items) / (i + 1)
            s = ('%10s' * 2 + '%10.3g' * 4) % (f'{epoch}', f'{i}/{nb - 1}', *mloss, len(targets))
            print(s)
        print('%.1fs' % (time.time() - t0))
    model.eval()
    with torch.no_grad():
        imgs, _ = next(iter(loader))
        inf_out, train_out = model(imgs)
        for det in non_max_suppression(inf_out):
            for *xyxy, conf, cls in det[:2]:
                print(CFG['classes'][int(cls)], [round(float(v), 1) for v in xyxy], float(conf))


if __name__ == '__main__':
    main()
