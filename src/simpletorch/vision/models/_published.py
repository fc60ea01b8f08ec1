"""The weights that torchvision has published, by model and name: the first is torchvision's ``DEFAULT``.

A file's name ends with the first digits of its SHA-256. `benchmarks/vision_models.py` compares this with torchvision's
own source.
"""

from collections.abc import Mapping
from typing import Final

__all__ = ["ADDRESS", "PUBLISHED"]

ADDRESS: Final = "https://download.pytorch.org/models/"
PUBLISHED: Final[Mapping[str, Mapping[str, str]]] = {
    "resnet18": {
        "IMAGENET1K_V1": "resnet18-f37072fd.pth",
    },
    "resnet34": {
        "IMAGENET1K_V1": "resnet34-b627a593.pth",
    },
    "resnet50": {
        "IMAGENET1K_V2": "resnet50-11ad3fa6.pth",
        "IMAGENET1K_V1": "resnet50-0676ba61.pth",
    },
    "resnet101": {
        "IMAGENET1K_V2": "resnet101-cd907fc2.pth",
        "IMAGENET1K_V1": "resnet101-63fe2227.pth",
    },
    "resnet152": {
        "IMAGENET1K_V2": "resnet152-f82ba261.pth",
        "IMAGENET1K_V1": "resnet152-394f9c45.pth",
    },
    "vgg11": {
        "IMAGENET1K_V1": "vgg11-8a719046.pth",
    },
    "vgg11_bn": {
        "IMAGENET1K_V1": "vgg11_bn-6002323d.pth",
    },
    "vgg13": {
        "IMAGENET1K_V1": "vgg13-19584684.pth",
    },
    "vgg13_bn": {
        "IMAGENET1K_V1": "vgg13_bn-abd245e5.pth",
    },
    "vgg16": {
        "IMAGENET1K_V1": "vgg16-397923af.pth",
        "IMAGENET1K_FEATURES": "vgg16_features-amdegroot-88682ab5.pth",
    },
    "vgg16_bn": {
        "IMAGENET1K_V1": "vgg16_bn-6c64b313.pth",
    },
    "vgg19": {
        "IMAGENET1K_V1": "vgg19-dcbb9e9d.pth",
    },
    "vgg19_bn": {
        "IMAGENET1K_V1": "vgg19_bn-c79401a0.pth",
    },
    "vit_b_16": {
        "IMAGENET1K_V1": "vit_b_16-c867db91.pth",
        "IMAGENET1K_SWAG_E2E_V1": "vit_b_16_swag-9ac1b537.pth",
        "IMAGENET1K_SWAG_LINEAR_V1": "vit_b_16_lc_swag-4e70ced5.pth",
    },
    "convnext_tiny": {
        "IMAGENET1K_V1": "convnext_tiny-983f1562.pth",
    },
    "convnext_small": {
        "IMAGENET1K_V1": "convnext_small-0c510722.pth",
    },
    "convnext_base": {
        "IMAGENET1K_V1": "convnext_base-6075fbad.pth",
    },
    "convnext_large": {
        "IMAGENET1K_V1": "convnext_large-ea097f82.pth",
    },
    "efficientnet_b0": {
        "IMAGENET1K_V1": "efficientnet_b0_rwightman-7f5810bc.pth",
    },
    "efficientnet_b1": {
        "IMAGENET1K_V2": "efficientnet_b1-c27df63c.pth",
        "IMAGENET1K_V1": "efficientnet_b1_rwightman-bac287d4.pth",
    },
    "efficientnet_b2": {
        "IMAGENET1K_V1": "efficientnet_b2_rwightman-c35c1473.pth",
    },
    "efficientnet_b3": {
        "IMAGENET1K_V1": "efficientnet_b3_rwightman-b3899882.pth",
    },
    "efficientnet_b4": {
        "IMAGENET1K_V1": "efficientnet_b4_rwightman-23ab8bcd.pth",
    },
    "efficientnet_b5": {
        "IMAGENET1K_V1": "efficientnet_b5_lukemelas-1a07897c.pth",
    },
    "efficientnet_b6": {
        "IMAGENET1K_V1": "efficientnet_b6_lukemelas-24a108a5.pth",
    },
    "efficientnet_b7": {
        "IMAGENET1K_V1": "efficientnet_b7_lukemelas-c5b4e57e.pth",
    },
    "mobilenet_v3_large": {
        "IMAGENET1K_V2": "mobilenet_v3_large-5c1a4163.pth",
        "IMAGENET1K_V1": "mobilenet_v3_large-8738ca79.pth",
    },
    "mobilenet_v3_small": {
        "IMAGENET1K_V1": "mobilenet_v3_small-047dcff4.pth",
    },
    "swin_t": {
        "IMAGENET1K_V1": "swin_t-704ceda3.pth",
    },
    "swin_s": {
        "IMAGENET1K_V1": "swin_s-5e29d889.pth",
    },
    "swin_b": {
        "IMAGENET1K_V1": "swin_b-68c6b09e.pth",
    },
}
