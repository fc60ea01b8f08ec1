"""A replaced head of each family: the layer that was put in counts."""

import torch
from torch import nn

from simpletorch.vision import models

images = torch.zeros(2, 3, 64, 64)
convnext = models.convnext_tiny()
convnext.classifier[2] = nn.Linear(768, 7)
convnext(images) + torch.zeros(7)
mobilenet = models.mobilenet_v3_small(num_classes=11)
mobilenet.classifier = nn.Sequential(nn.Linear(576, 7))
mobilenet(images) + torch.zeros(7)
efficientnet = models.efficientnet_b0()
efficientnet.classifier[1] = nn.Linear(1280, 7)
efficientnet(images) + torch.zeros(7)
swin = models.swin_t()
swin.head = nn.Linear(768, 7)
swin(images) + torch.zeros(7)
unet = models.unet(width=3, depth=2)
unet.head = nn.Conv2d(3, 7, 1)
unet(images) + torch.zeros(7, 64, 64)
