# Neural style transfer (Gatys et al.) -- tutorial version without downloads.
#
# There is no VGG here, so a small VGG-like net is trained for a moment on a texture
# classification task and then used as the feature extractor. The structure follows the
# well-known PyTorch tutorial: ContentLoss / StyleLoss layers are put between the layers
# of the copied CNN, and the input image is optimised with LBFGS.

from __future__ import print_function

import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
np.random.seed(0)

imsize = 48

######################################################################
# Images
# ------
# Pictures made of formulas: a "house" for the content and waves for the style.


def content_picture(size):
    img = np.zeros((size, size, 3), dtype=np.float32)
    img[..., 2] = np.linspace(0.9, 0.5, size)[:, None]
    img[..., 1] = np.linspace(0.7, 0.4, size)[:, None]
    ground = int(size * 0.75)
    img[ground:] = (0.2, 0.5, 0.15)
    lo, hi = int(size * 0.3), int(size * 0.7)
    img[int(size * 0.45):ground, lo:hi] = (0.8, 0.6, 0.4)
    for row in range(int(size * 0.25), int(size * 0.45)):
        half = int((row - size * 0.25))
        mid = size // 2
        img[row, max(mid - half, 0):mid + half] = (0.6, 0.1, 0.1)
    return img


def style_picture(size, freq=6.0, angle=0.6):
    yy, xx = np.meshgrid(np.linspace(0, 1, size), np.linspace(0, 1, size), indexing='ij')
    u = np.cos(angle) * xx + np.sin(angle) * yy
    wave = np.sin(2 * np.pi * freq * u + 2 * np.sin(5 * yy))
    img = np.stack([0.5 + 0.5 * wave, 0.4 + 0.3 * np.cos(4 * wave), 0.6 - 0.4 * wave], axis=-1)
    return img.clip(0, 1).astype(np.float32)


def image_loader(array):
    # fake batch dimension required to fit network's input dimensions
    image = torch.from_numpy(array).permute(2, 0, 1).unsqueeze(0).contiguous()
    return image.to(device, torch.float)


style_img = image_loader(style_picture(imsize))
content_img = image_loader(content_picture(imsize))

assert style_img.size() == content_img.size(), \
    "we need to import style and content images of the same size"

######################################################################
# The feature extractor
# ---------------------


def make_vgg(widths=(16, 32, 48), per_stage=2):
    layers = []
    c_in = 3
    for w in widths:
        for _ in range(per_stage):
            layers.append(nn.Conv2d(c_in, w, kernel_size=3, padding=1))
            layers.append(nn.ReLU(inplace=True))
            c_in = w
        layers.append(nn.MaxPool2d(kernel_size=2, stride=2))
    return nn.Sequential(*layers)


class TextureNet(nn.Module):
    def __init__(self, n_classes):
        super(TextureNet, self).__init__()
        self.features = make_vgg()
        self.classifier = nn.Linear(48, n_classes)

    def forward(self, x):
        x = self.features(x)
        x = F.max_pool2d(x, x.size()[2:]).flatten(1)
        return self.classifier(x)


def texture_batch(n, size):
    freqs = [2.0, 4.0, 8.0]
    labels = np.random.randint(len(freqs), size=n)
    images = [style_picture(size, freqs[k], np.random.uniform(0, np.pi)) for k in labels]
    images = torch.from_numpy(np.array(images)).permute(0, 3, 1, 2)
    return images.to(device), torch.from_numpy(labels).to(device)


def pretrain(steps=3, batch_size=8):
    net = TextureNet(3).to(device)
    optimizer = optim.Adam(net.parameters(), lr=1e-3)
    for step in range(steps):
        images, labels = texture_batch(batch_size, 32)
        loss = F.cross_entropy(net(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print('pretrain {} loss {:.3f}'.format(step, loss.item()))
    return net.features.eval()


######################################################################
# Loss Functions
# --------------


class ContentLoss(nn.Module):

    def __init__(self, target,):
        super(ContentLoss, self).__init__()
        # we 'detach' the target content from the tree used
        # to dynamically compute the gradient
        self.target = target.detach()

    def forward(self, input):
        self.loss = F.mse_loss(input, self.target)
        return input


def gram_matrix(input):
    a, b, c, d = input.size()  # a=batch size(=1)
    # b=number of feature maps
    # (c,d)=dimensions of a f. map (N=c*d)

    features = input.view(a * b, c * d)  # resize F_XL into \hat F_XL

    G = torch.mm(features, features.t())  # compute the gram product

    # we 'normalize' the values of the gram matrix
    # by dividing by the number of element in each feature maps.
    return G.div(a * b * c * d)


class StyleLoss(nn.Module):

    def __init__(self, target_feature):
        super(StyleLoss, self).__init__()
        self.target = gram_matrix(target_feature).detach()

    def forward(self, input):
        G = gram_matrix(input)
        self.loss = F.mse_loss(G, self.target)
        return input


def total_variation(img):
    dh = img[:, :, 1:, :] - img[:, :, :-1, :]
    dw = img[:, :, :, 1:] - img[:, :, :, :-1]
    return dh.abs().mean() + dw.abs().mean()


class Normalization(nn.Module):
    def __init__(self, mean, std):
        super(Normalization, self).__init__()
        # .view the mean and std to make them [C x 1 x 1] so that they can
        # directly work with image Tensor of shape [B x C x H x W].
        self.mean = mean.clone().detach().view(-1, 1, 1)
        self.std = std.clone().detach().view(-1, 1, 1)

    def forward(self, img):
        return (img - self.mean) / self.std


content_layers_default = ['conv_4']
style_layers_default = ['conv_1', 'conv_2', 'conv_3', 'conv_4', 'conv_5']


def get_style_model_and_losses(cnn, normalization_mean, normalization_std,
                               style_img, content_img,
                               content_layers=content_layers_default,
                               style_layers=style_layers_default):
    cnn = copy.deepcopy(cnn)
    normalization = Normalization(normalization_mean, normalization_std).to(device)

    content_losses = []
    style_losses = []
    model = nn.Sequential(normalization)

    i = 0  # increment every time we see a conv
    for layer in cnn.children():
        if isinstance(layer, nn.Conv2d):
            i += 1
            name = 'conv_{}'.format(i)
        elif isinstance(layer, nn.ReLU):
            name = 'relu_{}'.format(i)
            # The in-place version doesn't play very nicely with the losses
            layer = nn.ReLU(inplace=False)
        elif isinstance(layer, nn.MaxPool2d):
            name = 'pool_{}'.format(i)
            layer = nn.AvgPool2d(layer.kernel_size, layer.stride)
        else:
            raise RuntimeError('Unrecognized layer: {}'.format(layer.__class__.__name__))

        model.add_module(name, layer)

        if name in content_layers:
            target = model(content_img).detach()
            content_loss = ContentLoss(target)
            model.add_module("content_loss_{}".format(i), content_loss)
            content_losses.append(content_loss)

        if name in style_layers:
            target_feature = model(style_img).detach()
            style_loss = StyleLoss(target_feature)
            model.add_module("style_loss_{}".format(i), style_loss)
            style_losses.append(style_loss)

    # now we trim off the layers after the last content and style losses
    for i in range(len(model) - 1, -1, -1):
        if isinstance(model[i], ContentLoss) or isinstance(model[i], StyleLoss):
            break

    model = model[:(i + 1)]
    return model, style_losses, content_losses


def run_style_transfer(cnn, normalization_mean, normalization_std,
                       content_img, style_img, input_img, num_steps=6,
                       style_weight=100000, content_weight=1, tv_weight=0.1):
    print('Building the style transfer model..')
    model, style_losses, content_losses = get_style_model_and_losses(
        cnn, normalization_mean, normalization_std, style_img, content_img)

    input_img.requires_grad_(True)
    model.eval()
    model.requires_grad_(False)

    optimizer = optim.LBFGS([input_img], max_iter=2)

    print('Optimizing..')
    run = [0]
    while run[0] <= num_steps:

        def closure():
            # correct the values of updated input image
            with torch.no_grad():
                input_img.clamp_(0, 1)

            optimizer.zero_grad()
            model(input_img)
            style_score = 0
            content_score = 0

            for sl in style_losses:
                style_score += sl.loss
            for cl in content_losses:
                content_score += cl.loss

            style_score *= style_weight
            content_score *= content_weight

            loss = style_score + content_score + tv_weight * total_variation(input_img)
            loss.backward()

            run[0] += 1
            if run[0] % 2 == 0:
                print("run {}: Style Loss : {:4f} Content Loss: {:4f}".format(
                    run[0], style_score.item(), content_score.item()))

            return style_score + content_score

        optimizer.step(closure)

    # a last correction...
    with torch.no_grad():
        input_img.clamp_(0, 1)

    return input_img


if __name__ == '__main__':
    cnn = pretrain()
    cnn_normalization_mean = torch.tensor([0.485, 0.456, 0.406]).to(device)
    cnn_normalization_std = torch.tensor([0.229, 0.224, 0.225]).to(device)
    input_img = content_img.clone()

    output = run_style_transfer(cnn, cnn_normalization_mean, cnn_normalization_std,
                                content_img, style_img, input_img)
    picture = output.detach().squeeze(0).permute(1, 2, 0).cpu().numpy()
    print('output', picture.shape, 'changed by %.4f' % np.abs(picture - content_picture(imsize)).mean())
