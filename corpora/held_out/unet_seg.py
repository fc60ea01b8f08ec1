import argparse
import logging
import random
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim
from torch.utils.data import DataLoader, Dataset, random_split


# ---------------------------------------------------------------- data
class CellDataset(Dataset):
    """Synthetic grey microscope pictures: background / cell / nucleus. Sizes are not a multiple of 16."""

    def __init__(self, n, size=(70, 86), augment=False):
        self.n, self.size, self.augment = n, size, augment
        self.mask_values = [0, 1, 2]

    def __len__(self):
        return self.n

    def __getitem__(self, idx):
        rs = np.random.RandomState(idx)
        h, w = self.size
        img = rs.normal(0.2, 0.05, (h, w))
        mask = np.zeros((h, w), dtype=np.int64)
        yy, xx = np.indices((h, w))
        for _ in range(rs.randint(2, 6)):
            cy, cx, a, b, th = rs.uniform(0, h), rs.uniform(0, w), rs.uniform(7, 16), rs.uniform(7, 16), rs.uniform(0, np.pi)
            u = (yy - cy) * np.cos(th) + (xx - cx) * np.sin(th)
            v = -(yy - cy) * np.sin(th) + (xx - cx) * np.cos(th)
            r = (u / a) ** 2 + (v / b) ** 2
            img[r < 1] += 0.35
            mask[r < 1] = 1
            mask[r < 0.15] = 2
            img[r < 0.15] += 0.3
        img = torch.as_tensor(img, dtype=torch.float32).unsqueeze(0)
        mask = torch.as_tensor(mask)
        if self.augment:
            img, mask = self.transform(img, mask)
        return {'image': img.contiguous(), 'mask': mask.long().contiguous()}

    def transform(self, img, mask):
        if random.random() > 0.5:
            img, mask = img.flip(-1), mask.flip(-1)
        if random.random() > 0.5:
            img, mask = torch.flip(img, [1]), torch.flip(mask, [0])
        img, mask = elastic_affine(img, mask)
        if random.random() > 0.3:
            gamma = random.uniform(0.7, 1.4)
            img = img.clamp(0, 1).pow(gamma)
        # cutout
        h, w = img.shape[1:]
        s = 12
        y, x = random.randint(0, h - s), random.randint(0, w - s)
        img[:, y:y + s, x:x + s] = img.mean()
        return img, mask


def elastic_affine(img, mask, max_rot=0.4, alpha=0.08, grid=(4, 5)):
    h, w = img.shape[-2:]
    ang = random.uniform(-max_rot, max_rot)
    s = random.uniform(0.85, 1.15)
    theta = torch.tensor([[[s * np.cos(ang), -s * np.sin(ang), 0.], [s * np.sin(ang), s * np.cos(ang), 0.]]], dtype=torch.float32)
    base = F.affine_grid(theta, size=(1, 1, h, w), align_corners=False)
    disp = F.interpolate(alpha * torch.randn(1, 2, *grid), size=(h, w), mode='bicubic', align_corners=True)
    flow = base + disp.permute(0, 2, 3, 1)
    out = F.grid_sample(img[None], flow, mode='bilinear', padding_mode='reflection', align_corners=False)
    m = F.grid_sample(mask[None, None].float(), flow, mode='nearest', padding_mode='reflection', align_corners=False)
    return out.squeeze(0), m[0, 0].long()


# ---------------------------------------------------------------- model
class DoubleConv(nn.Module):
    """(convolution => [BN] => ReLU) * 2"""

    def __init__(self, in_channels, out_channels, mid_channels=None):
        super().__init__()
        if not mid_channels:
            mid_channels = out_channels
        self.double_conv = nn.Sequential(
            nn.Conv2d(in_channels, mid_channels, kernel_size=3, padding=1, bias=False),
            nn.BatchNorm2d(mid_channels),
            nn.ReLU(inplace=True),
            nn.Conv2d(mid_channels, out_channels, kernel_size=3, padding=1, bias=False),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(inplace=True)
        )

    def forward(self, x):
        return self.double_conv(x)


class Down(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.maxpool_conv = nn.Sequential(nn.MaxPool2d(2), DoubleConv(in_channels, out_channels))

    def forward(self, x):
        return self.maxpool_conv(x)


class AttentionGate(nn.Module):
    def __init__(self, gate_ch, skip_ch, inter_ch):
        super().__init__()
        self.wg = nn.Conv2d(gate_ch, inter_ch, 1)
        self.wx = nn.Conv2d(skip_ch, inter_ch, 1, bias=False)
        self.psi = nn.Sequential(nn.ReLU(), nn.Conv2d(inter_ch, 1, 1), nn.Sigmoid())

    def forward(self, g, x):
        a = self.psi(self.wg(g) + self.wx(x))
        return x * a


class Up(nn.Module):
    """mode: bilinear | deconv | shuffle"""

    def __init__(self, in_channels, skip_channels, out_channels, mode='bilinear', attention=False):
        super().__init__()
        if mode == 'bilinear':
            self.up = nn.Upsample(scale_factor=2, mode='bilinear', align_corners=True)
            up_ch = in_channels
        elif mode == 'deconv':
            up_ch = in_channels // 2
            self.up = nn.ConvTranspose2d(in_channels, up_ch, kernel_size=2, stride=2)
        elif mode == 'shuffle':
            up_ch = in_channels // 2
            self.up = nn.Sequential(nn.Conv2d(in_channels, 4 * up_ch, 1), nn.PixelShuffle(2))
        else:
            raise ValueError(mode)
        self.gate = AttentionGate(up_ch, skip_channels, max(skip_channels // 2, 1)) if attention else None
        self.conv = DoubleConv(up_ch + skip_channels, out_channels)

    def forward(self, x1, x2):
        x1 = self.up(x1)
        # input is CHW
        diffY = x2.size()[2] - x1.size()[2]
        diffX = x2.size()[3] - x1.size()[3]
        x1 = F.pad(x1, [diffX // 2, diffX - diffX // 2, diffY // 2, diffY - diffY // 2])
        if self.gate is not None:
            x2 = self.gate(x1, x2)
        x = torch.cat([x2, x1], dim=1)
        return self.conv(x)


class UNet(nn.Module):
    def __init__(self, n_channels, n_classes, base=12, depth=4, up_mode='bilinear', attention=True, deep_supervision=True):
        super(UNet, self).__init__()
        self.n_channels, self.n_classes = n_channels, n_classes
        chs = [base * 2 ** i for i in range(depth + 1)]
        self.inc = DoubleConv(n_channels, chs[0])
        self.downs = nn.ModuleList([Down(chs[i], chs[i + 1]) for i in range(depth)])
        self.ups = nn.ModuleList()
        for i in reversed(range(depth)):
            self.ups.append(Up(chs[i + 1], chs[i], chs[i], up_mode, attention and i > 0))
        self.aux = nn.ModuleList([nn.Conv2d(chs[i], n_classes, 1) for i in (2, 1)]) if deep_supervision else None
        self.outc = nn.Conv2d(chs[0], n_classes, kernel_size=1)

    def forward(self, x):
        feats = [self.inc(x)]
        for down in self.downs:
            feats.append(down(feats[-1]))
        y = feats.pop()
        aux = []
        for i, up in enumerate(self.ups):
            y = up(y, feats.pop())
            if self.aux is not None and i in (1, 2):
                aux.append(self.aux[i - 1](y))
        logits = self.outc(y)
        if self.training and aux:
            return logits, [F.interpolate(a, size=x.shape[2:], mode='bilinear', align_corners=False) for a in aux]
        return logits


# ---------------------------------------------------------------- losses and metrics
def dice_coeff(input, target, reduce_batch_first=False, epsilon=1e-6):
    assert input.size() == target.size()
    assert input.dim() == 3 or not reduce_batch_first
    sum_dim = (-1, -2) if input.dim() == 2 or not reduce_batch_first else (-1, -2, -3)
    inter = 2 * (input * target).sum(dim=sum_dim)
    sets_sum = input.sum(dim=sum_dim) + target.sum(dim=sum_dim)
    sets_sum = torch.where(sets_sum == 0, inter, sets_sum)
    dice = (inter + epsilon) / (sets_sum + epsilon)
    return dice.mean()


def multiclass_dice_coeff(input, target, reduce_batch_first=False):
    return dice_coeff(input.flatten(0, 1), target.flatten(0, 1), reduce_batch_first)


def dice_loss(input, target, multiclass=False):
    fn = multiclass_dice_coeff if multiclass else dice_coeff
    return 1 - fn(input, target, reduce_batch_first=True)


def boundary_weight(mask, n_classes, k=3):
    onehot = F.one_hot(mask, n_classes).permute(0, 3, 1, 2).float()
    dil = F.max_pool2d(onehot, k, stride=1, padding=k // 2)
    ero = -F.max_pool2d(-onehot, k, stride=1, padding=k // 2)
    edge = (dil - ero).amax(dim=1)
    return 1 + 2 * edge


def seg_loss(pred, mask, n_classes):
    w = boundary_weight(mask, n_classes)
    ce = (F.cross_entropy(pred, mask, reduction='none') * w).mean()
    d = dice_loss(F.softmax(pred, dim=1).float(), F.one_hot(mask, n_classes).permute(0, 3, 1, 2).float(), multiclass=True)
    return ce + d


def fast_hist(a, b, n):
    k = (a >= 0) & (a < n)
    return np.bincount(n * a[k].astype(int) + b[k], minlength=n ** 2).reshape(n, n)


def sliding_predict(net, img, tile=(48, 48), stride=32):
    """average of overlapping tiles, uses unfold + fold"""
    b, c, h, w = img.shape
    ph, pw = (-(h - tile[0])) % stride, (-(w - tile[1])) % stride
    x = F.pad(img, (0, pw, 0, ph), mode='replicate')
    H, W = x.shape[-2:]
    cols = F.unfold(x, tile, stride=stride)
    L = cols.shape[-1]
    patches = cols.transpose(1, 2).reshape(b * L, c, *tile)
    probs = net(patches).softmax(dim=1)
    probs = probs.reshape(b, L, -1).transpose(1, 2)
    out = F.fold(probs, (H, W), tile, stride=stride)
    count = F.fold(torch.ones(b, tile[0] * tile[1], L), (H, W), tile, stride=stride)
    return (out / count)[..., :h, :w]


@torch.inference_mode()
def evaluate(net, dataloader, tta=False):
    net.eval()
    dice_score, hist = 0, np.zeros((net.n_classes, net.n_classes))
    for batch in dataloader:
        image, mask_true = batch['image'], batch['mask']
        prob = sliding_predict(net, image)
        if tta:
            prob = (prob + net(image).softmax(1) + net(image.flip(3)).softmax(1).flip(3)) / 3
        pred = prob.argmax(dim=1)
        t = F.one_hot(mask_true, net.n_classes).permute(0, 3, 1, 2).float()
        p = F.one_hot(pred, net.n_classes).permute(0, 3, 1, 2).float()
        dice_score += multiclass_dice_coeff(p[:, 1:], t[:, 1:], reduce_batch_first=False)
        hist += fast_hist(mask_true.numpy().ravel(), pred.numpy().ravel(), net.n_classes)
    net.train()
    iou = np.diag(hist) / np.maximum(hist.sum(1) + hist.sum(0) - np.diag(hist), 1)
    return (dice_score / max(len(dataloader), 1)).item(), iou


def train_model(model, args, checkpoint_dir):
    dataset = CellDataset(14, augment=True)
    n_val = int(len(dataset) * args.val / 100)
    train_set, val_set = random_split(dataset, [len(dataset) - n_val, n_val], generator=torch.Generator().manual_seed(0))
    train_loader = DataLoader(train_set, shuffle=True, batch_size=args.batch_size, drop_last=True)
    val_loader = DataLoader(val_set, shuffle=False, batch_size=args.batch_size)
    optimizer = optim.RMSprop(model.parameters(), lr=args.lr, weight_decay=1e-8, momentum=0.9, foreach=True)
    scheduler = optim.lr_scheduler.ReduceLROnPlateau(optimizer, 'max', patience=5)
    global_step, best = 0, -1
    for epoch in range(1, args.epochs + 1):
        model.train()
        epoch_loss = 0
        for batch in train_loader:
            images, true_masks = batch['image'], batch['mask']
            assert images.shape[1] == model.n_channels
            pred, aux = model(images)
            loss = seg_loss(pred, true_masks, model.n_classes)
            for k, a in enumerate(aux):
                loss = loss + 0.3 / (k + 1) * seg_loss(a, true_masks, model.n_classes)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            global_step += 1
            epoch_loss += loss.item()
            logging.info('step %d loss %.4f', global_step, loss.item())
        val_score, iou = evaluate(model, val_loader, tta=True)
        scheduler.step(val_score)
        logging.info('epoch %d mean loss %.4f dice %.4f iou %s', epoch, epoch_loss / len(train_loader), val_score, np.round(iou, 3))
        if val_score > best:
            best = val_score
            state = model.state_dict()
            state['mask_values'] = dataset.mask_values
            torch.save(state, str(checkpoint_dir / f'checkpoint_epoch{epoch}.pth'))
    return sorted(checkpoint_dir.glob('*.pth'))[-1]


def get_args():
    parser = argparse.ArgumentParser(description='Train the UNet on images and target masks')
    parser.add_argument('--epochs', '-e', metavar='E', type=int, default=1)
    parser.add_argument('--batch-size', '-b', dest='batch_size', type=int, default=5)
    parser.add_argument('--learning-rate', '-l', type=float, default=1e-4, dest='lr')
    parser.add_argument('--validation', '-v', dest='val', type=float, default=25.0)
    parser.add_argument('--classes', '-c', type=int, default=3)
    return parser.parse_args()


if __name__ == '__main__':
    args = get_args()
    logging.basicConfig(level=logging.INFO, format='%(levelname)s: %(message)s', stream=sys.stdout)
    random.seed(0)
    torch.manual_seed(0)
    for up_mode in ['bilinear', 'deconv', 'shuffle']:
        model = UNet(n_channels=1, n_classes=args.classes, up_mode=up_mode, attention=up_mode != 'deconv')
        with tempfile.TemporaryDirectory() as d:
            ckpt = train_model(model, args, Path(d))
            state_dict = torch.load(ckpt)
        state_dict.pop('mask_values')
        model.load_state_dict(state_dict)
