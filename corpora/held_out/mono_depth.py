"""
monocular depth: encoder-decoder with skips, 4 output scales, edge-aware smoothness,
scale-invariant log loss, bf16 autocast on cpu and forward hooks for debugging
"""
import math
from collections import OrderedDict, namedtuple
from contextlib import contextmanager, nullcontext

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

OPT = {
    'height': 32, 'width': 48, 'scales': [0, 1, 2], 'num_ch_enc': (8, 12, 18, 26), 'num_ch_dec': (8, 10, 14, 20),
    'min_depth': 0.5, 'max_depth': 20.0, 'disparity_smoothness': 1e-3, 'batch_size': 4,
    'steps': 22, 'lr': 3e-3, 'amp': True,
}
Batch = namedtuple('Batch', ['color', 'depth', 'K'])


def render_scene(rng, h, w):
    """ground plane + boxes, shading depends on depth"""
    K = np.array([[0.58 * w, 0, 0.5 * w], [0, 1.2 * h, 0.5 * h], [0, 0, 1]], dtype=np.float32)
    v, u = np.mgrid[:h, :w].astype(np.float32)
    cam_h = rng.uniform(1.0, 2.0)
    rays = (v - K[1, 2]) / K[1, 1]
    depth = np.where(rays > 0.05, cam_h / np.maximum(rays, 1e-3), 20.0)
    depth = np.clip(depth, 0.5, 20.0)
    albedo = np.where(rays > 0.05, 0.5 + 0.2 * np.sin(u / 3) * np.sin(depth), 0.9)
    color = np.stack([albedo, albedo * 0.9, 1 - 0.5 * albedo])
    for _ in range(rng.randint(1, 5)):
        z = rng.uniform(1.5, 12)
        bw, bh = int(1 + 9 * 2 / z * rng.uniform(1, 2)), int(1 + 12 / z * rng.uniform(1, 2.5))
        cx, base = rng.randint(0, w), int(min(h - 1, K[1, 2] + K[1, 1] * cam_h / z))
        sl = np.s_[max(base - bh, 0):base + 1, max(cx - bw, 0):cx + bw]
        closer = depth[sl] > z
        depth[sl] = np.where(closer, z, depth[sl])
        tint = rng.rand(3, 1, 1)
        color[(slice(None),) + sl] = np.where(closer[None], tint * (1.2 - z / 15), color[(slice(None),) + sl])
    fog = np.exp(-depth / 15)
    color = color * fog + 0.8 * (1 - fog) + rng.randn(3, h, w) * 0.02
    return color.astype(np.float32), depth.astype(np.float32)[None], K


def loader(opt, n_batches, seed):
    rng = np.random.RandomState(seed)
    for _ in range(n_batches):
        c, d, k = zip(*(render_scene(rng, opt['height'], opt['width']) for _ in range(opt['batch_size'])))
        yield Batch(*(torch.from_numpy(np.stack(x)) for x in (c, d, k)))


class ResidualDown(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        self.short = None
        if stride != 1 or cin != cout:
            self.short = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))

    def forward(self, x):
        identity = x if self.short is None else self.short(x)
        x = F.relu(self.bn1(self.conv1(x)), inplace=True)
        return F.relu(self.bn2(self.conv2(x)) + identity)


class DepthEncoder(nn.Module):
    def __init__(self, num_ch_enc):
        super().__init__()
        self.num_ch_enc = np.array(num_ch_enc)
        prev = 3
        for i, c in enumerate(num_ch_enc):
            setattr(self, 'layer%d' % i, ResidualDown(prev, c, 1 if i == 0 else 2))
            prev = c

    def forward(self, input_image):
        features = []
        x = (input_image - 0.45) / 0.225
        for i in range(len(self.num_ch_enc)):
            x = getattr(self, 'layer%d' % i)(x)
            features.append(x)
        return features


class Conv3x3(nn.Module):
    def __init__(self, in_channels, out_channels, use_refl=True):
        super(Conv3x3, self).__init__()
        self.pad = nn.ReflectionPad2d(1) if use_refl else nn.ZeroPad2d(1)
        self.conv = nn.Conv2d(int(in_channels), int(out_channels), 3)

    def forward(self, x):
        return self.conv(self.pad(x))


class ConvBlock(nn.Module):
    def __init__(self, in_channels, out_channels):
        super(ConvBlock, self).__init__()
        self.conv = Conv3x3(in_channels, out_channels)
        self.nonlin = nn.ELU(inplace=True)

    def forward(self, x):
        return self.nonlin(self.conv(x))


class DepthDecoder(nn.Module):
    def __init__(self, num_ch_enc, num_ch_dec, scales, use_skips=True):
        super().__init__()
        self.use_skips, self.scales = use_skips, scales
        self.convs = OrderedDict()
        self.top = len(num_ch_enc) - 1
        for i in range(self.top, -1, -1):
            num_ch_in = num_ch_enc[-1] if i == self.top else num_ch_dec[i + 1]
            self.convs[("upconv", i, 0)] = ConvBlock(num_ch_in, num_ch_dec[i])
            num_ch_in = num_ch_dec[i]
            if self.use_skips and i > 0:
                num_ch_in += num_ch_enc[i - 1]
            self.convs[("upconv", i, 1)] = ConvBlock(num_ch_in, num_ch_dec[i])
        for s in self.scales:
            self.convs[("dispconv", s)] = Conv3x3(num_ch_dec[s], 1)
        self.decoder = nn.ModuleList(list(self.convs.values()))

    def forward(self, input_features):
        outputs = {}
        x = input_features[-1]
        for i in range(self.top, -1, -1):
            x = self.convs[("upconv", i, 0)](x)
            x = [F.interpolate(x, scale_factor=2, mode="nearest") if i > 0 else x]
            if self.use_skips and i > 0:
                x += [input_features[i - 1]]
            x = self.convs[("upconv", i, 1)](torch.cat(x, 1))
            if i in self.scales:
                outputs[("disp", i)] = torch.sigmoid(self.convs[("dispconv", i)](x))
        return outputs


def disp_to_depth(disp, min_depth, max_depth):
    min_disp, max_disp = 1 / max_depth, 1 / min_depth
    scaled_disp = min_disp + (max_disp - min_disp) * disp
    return scaled_disp, 1 / scaled_disp


def get_smooth_loss(disp, img):
    grad_disp_x = torch.abs(disp[:, :, :, :-1] - disp[:, :, :, 1:])
    grad_disp_y = torch.abs(disp[:, :, :-1, :] - disp[:, :, 1:, :])
    grad_img_x = torch.mean(torch.abs(img[:, :, :, :-1] - img[:, :, :, 1:]), 1, keepdim=True)
    grad_img_y = torch.mean(torch.abs(img[:, :, :-1, :] - img[:, :, 1:, :]), 1, keepdim=True)
    grad_disp_x *= torch.exp(-grad_img_x)
    grad_disp_y *= torch.exp(-grad_img_y)
    return grad_disp_x.mean() + grad_disp_y.mean()


def silog(pred, gt, lam=0.85):
    mask = (gt > OPT['min_depth']) & (gt < OPT['max_depth'])
    d = torch.log(pred[mask]) - torch.log(gt[mask])
    return torch.sqrt((d ** 2).mean() - lam * d.mean() ** 2 + 1e-8)


def backproject(depth, K):
    """[B,1,H,W] -> [B,3,H*W] camera points"""
    b, _, h, w = depth.shape
    meshgrid = np.meshgrid(range(w), range(h), indexing='xy')
    pix = torch.from_numpy(np.stack(meshgrid, axis=0).astype(np.float32)).reshape(2, -1)
    pix = torch.cat([pix, torch.ones(1, h * w)], 0).unsqueeze(0).repeat(b, 1, 1)
    return depth.view(b, 1, -1) * torch.matmul(torch.inverse(K), pix)


def normals_from_points(pts, h, w):
    p = pts.view(-1, 3, h, w)
    dx = p[..., 1:, 1:] - p[..., 1:, :-1]
    dy = p[..., 1:, 1:] - p[..., :-1, 1:]
    return F.normalize(torch.cross(dx, dy, dim=1), dim=1, eps=1e-6)


@contextmanager
def activation_stats(model, kinds=(ResidualDown, ConvBlock)):
    stats, handles = OrderedDict(), []

    def hook(name):
        def fn(module, inputs, output):
            stats[name] = (tuple(output.shape), output.float().std().item())
        return fn
    for name, m in model.named_modules():
        if isinstance(m, kinds):
            handles.append(m.register_forward_hook(hook(name)))
    try:
        yield stats
    finally:
        [h.remove() for h in handles]


def compute_errors(gt, pred):
    thresh = np.maximum((gt / pred), (pred / gt))
    return (np.mean(np.abs(gt - pred) / gt), np.sqrt(((gt - pred) ** 2).mean()), (thresh < 1.25).mean(), (thresh < 1.25 ** 2).mean())


def main():
    torch.manual_seed(2)
    net = nn.ModuleDict({'encoder': DepthEncoder(OPT['num_ch_enc'])})
    net['depth'] = DepthDecoder(net['encoder'].num_ch_enc, OPT['num_ch_dec'], OPT['scales'])
    opt = torch.optim.Adam([{'params': net['encoder'].parameters(), 'lr': OPT['lr'] / 2},
                            {'params': net['depth'].parameters()}], lr=OPT['lr'])
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, OPT['steps'], eta_min=1e-4)
    for step, batch in enumerate(loader(OPT, OPT['steps'], 0)):
        with torch.autocast('cpu', dtype=torch.bfloat16) if OPT['amp'] else nullcontext():
            out = net['depth'](net['encoder'](batch.color))
        total = 0
        for s in OPT['scales']:
            disp = out[('disp', s)].float()
            color = F.interpolate(batch.color, disp.shape[-2:], mode='area')
            full = F.interpolate(disp, [OPT['height'], OPT['width']], mode='bilinear', align_corners=False)
            _, depth = disp_to_depth(full, OPT['min_depth'], OPT['max_depth'])
            norm_disp = disp / (disp.mean(2, True).mean(3, True) + 1e-7)
            loss = silog(depth, batch.depth) + OPT['disparity_smoothness'] * get_smooth_loss(norm_disp, color) / (2 ** s)
            if s == 0:
                n1, n2 = (normals_from_points(backproject(d, batch.K), OPT['height'], OPT['width']) for d in (depth, batch.depth))
                loss = loss + 0.1 * (1 - (n1 * n2).sum(1)).mean()
            total = total + loss / len(OPT['scales'])
        opt.zero_grad()
        total.backward()
        opt.step()
        sched.step()
        if step % 7 == 0:
            print('step %02d loss %.4f lrs %s' % (step, total.item(), ['%.1e' % lr for lr in sched.get_last_lr()]))
    net.eval()
    errors = []
    with torch.no_grad(), activation_stats(net) as stats:
        for batch in loader(OPT, 3, 77):
            _, depth = disp_to_depth(net['depth'](net['encoder'](batch.color))[('disp', 0)], OPT['min_depth'], OPT['max_depth'])
            for gt, pred in zip(batch.depth.numpy()[:, 0], depth.numpy()[:, 0]):
                m = gt < OPT['max_depth']
                errors.append(compute_errors(gt[m], pred[m] * np.median(gt[m]) / np.median(pred[m])))
    for k, (shape, std) in stats.items():
        print('  %-28s %-18s std %.3f' % (k, shape, std))
    print('abs_rel %.3f rmse %.3f a1 %.3f a2 %.3f' % tuple(np.array(errors).mean(0)))


if __name__ == '__main__':
    main()
