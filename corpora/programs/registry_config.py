"""Everything is built from a config by name, in the manner of mmcv."""
import copy
import inspect
import json

import torch
import torch.nn as nn
import torch.nn.functional as F


class Registry:
    def __init__(self, name):
        self._name = name
        self._module_dict = dict()

    def __len__(self):
        return len(self._module_dict)

    def __contains__(self, key):
        return self.get(key) is not None

    @property
    def name(self):
        return self._name

    def get(self, key):
        return self._module_dict.get(key, None)

    def _register_module(self, module_class, module_name=None, force=False):
        if not inspect.isclass(module_class):
            raise TypeError('module must be a class, but got %s' % type(module_class))
        if module_name is None:
            module_name = module_class.__name__
        if not force and module_name in self._module_dict:
            raise KeyError('%s is already registered in %s' % (module_name, self.name))
        self._module_dict[module_name] = module_class

    def register_module(self, name=None, force=False, module=None):
        if module is not None:
            self._register_module(module_class=module, module_name=name, force=force)
            return module

        def _register(cls):
            self._register_module(module_class=cls, module_name=name, force=force)
            return cls

        return _register


def build_from_cfg(cfg, registry, default_args=None):
    if not isinstance(cfg, dict):
        raise TypeError(f'cfg must be a dict, but got {type(cfg)}')
    args = cfg.copy()
    if default_args is not None:
        for name, value in default_args.items():
            args.setdefault(name, value)
    obj_type = args.pop('type')
    if isinstance(obj_type, str):
        obj_cls = registry.get(obj_type)
        if obj_cls is None:
            raise KeyError(f'{obj_type} is not in the {registry.name} registry')
    elif inspect.isclass(obj_type):
        obj_cls = obj_type
    return obj_cls(**args)


BACKBONES, NECKS, HEADS, LOSSES, SEGMENTORS = (Registry(n) for n in ('backbone', 'neck', 'head', 'loss', 'segmentor'))

norm_cfg_default = dict(type='BN')


def build_norm_layer(cfg, num_features):
    cfg_ = cfg.copy()
    layer_type = cfg_.pop('type')
    layer, abbr = {'BN': (nn.BatchNorm2d, 'bn'), 'GN': (nn.GroupNorm, 'gn')}[layer_type]
    if layer_type == 'GN':
        return abbr, layer(num_channels=num_features, **cfg_)
    return abbr, layer(num_features, **cfg_)


class ConvModule(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, norm_cfg=None, act_cfg=dict(type='ReLU')):
        super().__init__()
        self.with_norm = norm_cfg is not None
        self.with_activation = act_cfg is not None
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size, stride, padding, bias=not self.with_norm)
        if self.with_norm:
            self.norm_name, norm = build_norm_layer(norm_cfg, out_channels)
            self.add_module(self.norm_name, norm)
        if self.with_activation:
            act_cfg_ = act_cfg.copy()
            self.activate = getattr(nn, act_cfg_.pop('type'))(**act_cfg_)

    @property
    def norm(self):
        return getattr(self, self.norm_name)

    def forward(self, x):
        x = self.conv(x)
        if self.with_norm:
            x = self.norm(x)
        if self.with_activation:
            x = self.activate(x)
        return x


@BACKBONES.register_module()
class TinyNet(nn.Module):
    arch_settings = {18: (1, 1, 1), 34: (1, 2, 2)}

    def __init__(self, depth, in_channels=3, base_channels=8, out_indices=(0, 1, 2), norm_cfg=None):
        super(TinyNet, self).__init__()
        if depth not in self.arch_settings:
            raise KeyError(f'invalid depth {depth}')
        self.out_indices = out_indices
        self.stem = ConvModule(in_channels, base_channels, 3, stride=2, padding=1, norm_cfg=norm_cfg)
        self.layers = []
        inplanes = base_channels
        for i, num_blocks in enumerate(self.arch_settings[depth]):
            planes = base_channels * 2**i
            blocks = []
            for j in range(num_blocks):
                blocks.append(ConvModule(inplanes, planes, 3, stride=2 if j == 0 and i > 0 else 1, padding=1, norm_cfg=norm_cfg))
                inplanes = planes
            layer_name = f'layer{i + 1}'
            self.add_module(layer_name, nn.Sequential(*blocks))
            self.layers.append(layer_name)

    def forward(self, x):
        x = self.stem(x)
        outs = []
        for i, layer_name in enumerate(self.layers):
            x = getattr(self, layer_name)(x)
            if i in self.out_indices:
                outs.append(x)
        return tuple(outs)


@NECKS.register_module()
class FPN(nn.Module):
    def __init__(self, in_channels, out_channels, num_outs, norm_cfg=None):
        super().__init__()
        assert isinstance(in_channels, list)
        self.num_ins, self.num_outs = len(in_channels), num_outs
        self.lateral_convs = nn.ModuleList()
        self.fpn_convs = nn.ModuleList()
        for c in in_channels:
            self.lateral_convs.append(ConvModule(c, out_channels, 1, norm_cfg=norm_cfg, act_cfg=None))
            self.fpn_convs.append(ConvModule(out_channels, out_channels, 3, padding=1, act_cfg=None))

    def forward(self, inputs):
        laterals = [conv(inputs[i]) for i, conv in enumerate(self.lateral_convs)]
        used = len(laterals)
        for i in range(used - 1, 0, -1):
            prev_shape = laterals[i - 1].shape[2:]
            laterals[i - 1] = laterals[i - 1] + F.interpolate(laterals[i], size=prev_shape, mode='nearest')
        outs = [self.fpn_convs[i](laterals[i]) for i in range(used)]
        for _ in range(self.num_outs - used):
            outs.append(F.max_pool2d(outs[-1], 1, stride=2))
        return tuple(outs)


@LOSSES.register_module(name='DiceCE')
class DiceCE(nn.Module):
    def __init__(self, loss_weight=1.0, ignore_index=255):
        super().__init__()
        self.loss_weight, self.ignore_index = loss_weight, ignore_index

    def forward(self, pred, target):
        ce = F.cross_entropy(pred, target, ignore_index=self.ignore_index)
        onehot = F.one_hot(torch.clamp(target, 0, pred.shape[1] - 1), num_classes=pred.shape[1]).permute(0, 3, 1, 2)
        p = pred.softmax(dim=1)
        inter = (p * onehot).flatten(2).sum(-1)
        dice = 1 - (2 * inter + 1) / (p.flatten(2).sum(-1) + onehot.flatten(2).sum(-1) + 1)
        return self.loss_weight * (ce + dice.mean())


class BaseDecodeHead(nn.Module):
    def __init__(self, in_channels, channels, *, num_classes, in_index=-1, input_transform=None, align_corners=False, loss_decode=dict(type='DiceCE')):
        super().__init__()
        self.in_index, self.input_transform, self.align_corners = in_index, input_transform, align_corners
        self.in_channels = sum(in_channels) if input_transform == 'resize_concat' else in_channels
        self.channels = channels
        self.loss_decode = build_from_cfg(loss_decode, LOSSES)
        self.conv_seg = nn.Conv2d(channels, num_classes, kernel_size=1)
        self.dropout = nn.Dropout2d(0.1)

    def _transform_inputs(self, inputs):
        if self.input_transform == 'resize_concat':
            inputs = [inputs[i] for i in self.in_index]
            upsampled = [F.interpolate(x, size=inputs[0].shape[2:], mode='bilinear', align_corners=self.align_corners) for x in inputs]
            return torch.cat(upsampled, dim=1)
        return inputs[self.in_index]

    def forward(self, inputs):
        raise NotImplementedError

    def cls_seg(self, feat):
        return self.conv_seg(self.dropout(feat))

    def losses(self, seg_logit, seg_label):
        loss = dict()
        seg_logit = F.interpolate(seg_logit, size=seg_label.shape[2:], mode='bilinear', align_corners=self.align_corners)
        seg_label = seg_label.squeeze(1)
        loss['loss_seg'] = self.loss_decode(seg_logit, seg_label)
        loss['acc_seg'] = (seg_logit.argmax(1) == seg_label).float().mean() * 100
        return loss


@HEADS.register_module()
class FCNHead(BaseDecodeHead):
    def __init__(self, num_convs=2, **kwargs):
        super(FCNHead, self).__init__(**kwargs)
        convs = [ConvModule(self.in_channels if i == 0 else self.channels, self.channels, 3, padding=1) for i in range(num_convs)]
        self.convs = nn.Sequential(*convs)

    def forward(self, inputs):
        x = self._transform_inputs(inputs)
        return self.cls_seg(self.convs(x))


@SEGMENTORS.register_module()
class EncoderDecoder(nn.Module):
    def __init__(self, backbone, decode_head, neck=None, auxiliary_head=None):
        super().__init__()
        self.backbone = build_from_cfg(backbone, BACKBONES)
        if neck is not None:
            self.neck = build_from_cfg(neck, NECKS)
        self.decode_head = build_from_cfg(decode_head, HEADS)
        self.auxiliary_head = nn.ModuleList([build_from_cfg(h, HEADS) for h in auxiliary_head or []])

    @property
    def with_neck(self):
        return hasattr(self, 'neck') and self.neck is not None

    def extract_feat(self, img):
        x = self.backbone(img)
        if self.with_neck:
            x = self.neck(x)
        return x

    def forward(self, img, gt_semantic_seg=None, return_loss=True):
        if return_loss:
            return self.forward_train(img, gt_semantic_seg)
        return F.interpolate(self.decode_head(self.extract_feat(img)), img.shape[2:], mode='bilinear').argmax(1)

    def forward_train(self, img, gt):
        x = self.extract_feat(img)
        losses = {f'decode.{k}': v for k, v in self.decode_head.losses(self.decode_head(x), gt).items()}
        for idx, aux in enumerate(self.auxiliary_head):
            losses.update({f'aux_{idx}.{k}': v for k, v in aux.losses(aux(x), gt).items()})
        return losses


def parse_losses(losses):
    log_vars = {}
    for loss_name, loss_value in losses.items():
        log_vars[loss_name] = loss_value.mean()
    loss = sum(_value for _key, _value in log_vars.items() if 'loss' in _key)
    log_vars['loss'] = loss
    return loss, {k: v.item() for k, v in log_vars.items()}


CONFIG = json.loads("""{
  "optimizer": {"type": "SGD", "lr": 0.05, "momentum": 0.9}, "max_iters": 3,
  "data": {"samples_per_gpu": 2, "crop_size": [35, 44]}
}""")
norm_cfg = dict(type='BN', momentum=0.03)
model = dict(
    type='EncoderDecoder',
    backbone=dict(type='TinyNet', depth=34, norm_cfg=norm_cfg),
    neck=dict(type='FPN', in_channels=[8, 16, 32], out_channels=12, num_outs=4, norm_cfg=dict(type='GN', num_groups=3)),
    decode_head=dict(type='FCNHead', in_channels=[12, 12, 12], in_index=[0, 1, 2], input_transform='resize_concat', channels=14, num_classes=5),
    auxiliary_head=[dict(type='FCNHead', in_channels=12, in_index=3, channels=6, num_convs=1, num_classes=5,
                         loss_decode=dict(type='DiceCE', loss_weight=0.4))])


def main():
    torch.manual_seed(0)
    cfg = copy.deepcopy(model)
    segmentor = build_from_cfg(cfg, SEGMENTORS)
    segmentor.train()
    opt_cfg = CONFIG['optimizer'].copy()
    optimizer = getattr(torch.optim, opt_cfg.pop('type'))(segmentor.parameters(), **opt_cfg)
    n, (h, w) = CONFIG['data']['samples_per_gpu'], CONFIG['data']['crop_size']
    for it in range(CONFIG['max_iters']):
        batch = dict(img=torch.randn(n, 3, h, w), gt_semantic_seg=torch.randint(0, 5, (n, 1, h, w)))
        loss, log_vars = parse_losses(segmentor(**batch))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(it, {k: round(v, 3) for k, v in log_vars.items()})
    segmentor.eval()
    with torch.no_grad():
        print(segmentor(torch.randn(1, 3, h, w), return_loss=False).shape)


if __name__ == '__main__':
    main()
