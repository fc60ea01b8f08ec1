"""``torchvision.models``: decorators of what is followed, and the images of weights (`torchvision.txt`)."""

from __future__ import annotations

from typing import Final

from simpletorch.follow.libraries.installed import stand

__all__: Final = ()

_SIZES: Final = {
    224: "AlexNet GoogLeNet MaxVit_T MobileNet_V2 MobileNet_V3_Large MobileNet_V3_Small EfficientNet_B0 ViT_B_16 "
    "ViT_B_32 ViT_L_16 ViT_L_32 Swin_T Swin_S Swin_B ConvNeXt_Tiny ConvNeXt_Small ConvNeXt_Base "
    "ConvNeXt_Large DenseNet121 DenseNet161 DenseNet169 DenseNet201 ResNet18 ResNet34 ResNet50 ResNet101 "
    "ResNet152 ResNeXt50_32X4D ResNeXt101_32X8D ResNeXt101_64X4D Wide_ResNet50_2 Wide_ResNet101_2 "
    "SqueezeNet1_0 SqueezeNet1_1 VGG11 VGG13 VGG16 VGG19 VGG11_BN VGG13_BN VGG16_BN VGG19_BN "
    "ShuffleNet_V2_X0_5 ShuffleNet_V2_X1_0 ShuffleNet_V2_X1_5 ShuffleNet_V2_X2_0 MNASNet0_5 MNASNet0_75 "
    "MNASNet1_0 MNASNet1_3",
    240: "EfficientNet_B1",
    256: "Swin_V2_T Swin_V2_S Swin_V2_B",
    288: "EfficientNet_B2",
    299: "Inception_V3",
    300: "EfficientNet_B3",
    380: "EfficientNet_B4",
    384: "EfficientNet_V2_S",
    456: "EfficientNet_B5",
    480: "EfficientNet_V2_M EfficientNet_V2_L",
    528: "EfficientNet_B6",
    600: "EfficientNet_B7",
}
"""The models by the side of the images that their weights were trained on."""
stand(
    "torchvision",
    "torchvision.txt",
    {
        "register_model": "models._api.register_model",
        "handle_legacy_interface": "models._utils.handle_legacy_interface",
        **{f"of_{size}": " ".join(f"models.{m}_Weights" for m in models.split()) for size, models in _SIZES.items()},
    },
)
