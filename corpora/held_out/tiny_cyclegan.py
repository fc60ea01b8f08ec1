import itertools
import random
import functools
import numpy as np
import torch
import torch.nn as nn
from torch.nn import init
from torch.utils.data import Dataset, DataLoader


class Options:
    input_nc = output_nc = 3
    ngf = ndf = 8
    n_blocks = 2
    n_layers_D = 2
    norm = 'instance'
    load_size = 36
    crop_size = 32
    batch_size = 2
    lambda_A, lambda_B, lambda_identity = 10.0, 10.0, 0.5
    gan_mode = 'lsgan'
    pool_size = 6
    lr, beta1 = 0.0002, 0.5
    n_epochs, n_epochs_decay = 1, 1
    max_iters = 3


# domain A = filled circles, domain B = stripes
def draw_circle(size):
    img = np.ones((size, size, 3), dtype=np.float32) * np.random.rand(3) * 0.3
    yy, xx = np.mgrid[:size, :size]
    cy, cx = np.random.randint(size // 4, 3 * size // 4, 2)
    r = np.random.randint(size // 8, size // 4)
    img[(yy - cy) ** 2 + (xx - cx) ** 2 < r * r] = np.random.rand(3)
    return img


def draw_stripes(size):
    img = np.zeros((size, size, 3), dtype=np.float32)
    c1, c2 = np.random.rand(2, 3)
    period = np.random.randint(3, 7)
    cols = (np.arange(size) // period) % 2 == 0
    img[:, cols], img[:, ~cols] = c1, c2
    return img


class UnalignedDataset(Dataset):
    def __init__(self, opt, n_A=7, n_B=9):
        self.opt = opt
        self.A = [draw_circle(opt.load_size) for _ in range(n_A)]
        self.B = [draw_stripes(opt.load_size) for _ in range(n_B)]

    def transform(self, img):
        d = self.opt.load_size - self.opt.crop_size
        y, x = random.randint(0, d), random.randint(0, d)
        img = img[y:y + self.opt.crop_size, x:x + self.opt.crop_size]
        img = img[:, ::-1] if random.random() > 0.5 else img
        t = torch.from_numpy(np.ascontiguousarray(img.transpose(2, 0, 1))).float()
        return t * 2 - 1

    def __getitem__(self, index):
        A = self.transform(self.A[index % len(self.A)])
        B = self.transform(self.B[random.randint(0, len(self.B) - 1)])
        return {'A': A, 'B': B}

    def __len__(self):
        return max(len(self.A), len(self.B))


class ImagePool():
    def __init__(self, pool_size):
        self.pool_size, self.images = pool_size, []

    def query(self, images):
        out = []
        for image in images:
            image = torch.unsqueeze(image.data, 0)
            if len(self.images) < self.pool_size:
                self.images.append(image)
                out.append(image)
            elif random.uniform(0, 1) > 0.5:
                i = random.randint(0, self.pool_size - 1)
                out.append(self.images[i].clone())
                self.images[i] = image
            else:
                out.append(image)
        return torch.cat(out, 0)


norm_layers = {'batch': functools.partial(nn.BatchNorm2d, affine=True),
               'instance': functools.partial(nn.InstanceNorm2d, affine=False)}


def init_weights(net, gain=0.02):
    def init_func(m):
        classname = m.__class__.__name__
        if hasattr(m, 'weight') and (classname.find('Conv') != -1 or classname.find('Linear') != -1):
            init.normal_(m.weight.data, 0.0, gain)
    net.apply(init_func)
    return net


class ResnetBlock(nn.Module):
    def __init__(self, dim, norm_layer):
        super().__init__()
        self.conv_block = nn.Sequential(
            nn.ReflectionPad2d(1), nn.Conv2d(dim, dim, 3), norm_layer(dim), nn.ReLU(True),
            nn.ReflectionPad2d(1), nn.Conv2d(dim, dim, 3), norm_layer(dim))

    def forward(self, x):
        return x + self.conv_block(x)


class ResnetGenerator(nn.Module):
    def __init__(self, input_nc, output_nc, ngf, norm_layer, n_blocks):
        super().__init__()
        model = [nn.ReflectionPad2d(3), nn.Conv2d(input_nc, ngf, 7), norm_layer(ngf), nn.ReLU(True)]
        n_down = 2
        for mult in [2 ** i for i in range(n_down)]:
            model += [nn.Conv2d(ngf * mult, ngf * mult * 2, 3, stride=2, padding=1),
                      norm_layer(ngf * mult * 2), nn.ReLU(True)]
        mult = 2 ** n_down
        model += [ResnetBlock(ngf * mult, norm_layer) for _ in range(n_blocks)]
        for i in range(n_down):
            mult = 2 ** (n_down - i)
            model += [nn.ConvTranspose2d(ngf * mult, int(ngf * mult / 2), 3, stride=2, padding=1, output_padding=1),
                      norm_layer(int(ngf * mult / 2)), nn.ReLU(True)]
        model += [nn.ReflectionPad2d(3), nn.Conv2d(ngf, output_nc, 7), nn.Tanh()]
        self.model = nn.Sequential(*model)

    def forward(self, input):
        return self.model(input)


def define_D(input_nc, ndf, n_layers, norm_layer):
    seq = [nn.Conv2d(input_nc, ndf, 4, stride=2, padding=1), nn.LeakyReLU(0.2, True)]
    nf = 1
    for n in range(1, n_layers + 1):
        nf_prev, nf = nf, min(2 ** n, 8)
        seq += [nn.Conv2d(ndf * nf_prev, ndf * nf, 4, stride=2 if n < n_layers else 1, padding=1),
                norm_layer(ndf * nf), nn.LeakyReLU(0.2, True)]
    seq += [nn.Conv2d(ndf * nf, 1, 4, stride=1, padding=1)]
    return init_weights(nn.Sequential(*seq))


class GANLoss(nn.Module):
    def __init__(self, gan_mode):
        super().__init__()
        self.register_buffer('real_label', torch.tensor(1.0))
        self.register_buffer('fake_label', torch.tensor(0.0))
        self.loss = nn.MSELoss() if gan_mode == 'lsgan' else nn.BCEWithLogitsLoss()

    def __call__(self, prediction, target_is_real):
        target = self.real_label if target_is_real else self.fake_label
        return self.loss(prediction, target.expand_as(prediction))


class CycleGANModel:
    def __init__(self, opt):
        self.opt = opt
        norm = norm_layers[opt.norm]
        self.netG_A = init_weights(ResnetGenerator(opt.input_nc, opt.output_nc, opt.ngf, norm, opt.n_blocks))
        self.netG_B = init_weights(ResnetGenerator(opt.output_nc, opt.input_nc, opt.ngf, norm, opt.n_blocks))
        self.netD_A = define_D(opt.output_nc, opt.ndf, opt.n_layers_D, norm)
        self.netD_B = define_D(opt.input_nc, opt.ndf, opt.n_layers_D, norm)
        self.fake_A_pool, self.fake_B_pool = ImagePool(opt.pool_size), ImagePool(opt.pool_size)
        self.criterionGAN, self.criterionL1 = GANLoss(opt.gan_mode), nn.L1Loss()
        self.optimizer_G = torch.optim.Adam(itertools.chain(self.netG_A.parameters(), self.netG_B.parameters()),
                                            lr=opt.lr, betas=(opt.beta1, 0.999))
        self.optimizer_D = torch.optim.Adam(itertools.chain(self.netD_A.parameters(), self.netD_B.parameters()),
                                            lr=opt.lr, betas=(opt.beta1, 0.999))
        rule = lambda e: 1.0 - max(0, e + 1 - opt.n_epochs) / float(opt.n_epochs_decay + 1)
        self.schedulers = [torch.optim.lr_scheduler.LambdaLR(o, rule) for o in (self.optimizer_G, self.optimizer_D)]

    def set_requires_grad(self, nets, flag):
        for net in nets:
            for p in net.parameters():
                p.requires_grad = flag

    def backward_D(self, netD, real, fake):
        loss = (self.criterionGAN(netD(real), True) + self.criterionGAN(netD(fake.detach()), False)) * 0.5
        loss.backward()
        return loss.item()

    def optimize_parameters(self, data):
        o, A, B = self.opt, data['A'], data['B']
        fake_B = self.netG_A(A); rec_A = self.netG_B(fake_B)
        fake_A = self.netG_B(B); rec_B = self.netG_A(fake_A)
        self.set_requires_grad([self.netD_A, self.netD_B], False)
        self.optimizer_G.zero_grad()
        idt = self.criterionL1(self.netG_A(B), B) * o.lambda_B + self.criterionL1(self.netG_B(A), A) * o.lambda_A
        gan = self.criterionGAN(self.netD_A(fake_B), True) + self.criterionGAN(self.netD_B(fake_A), True)
        cyc = self.criterionL1(rec_A, A) * o.lambda_A + self.criterionL1(rec_B, B) * o.lambda_B
        (gan + cyc + idt * o.lambda_identity).backward()
        self.optimizer_G.step()
        self.set_requires_grad([self.netD_A, self.netD_B], True)
        self.optimizer_D.zero_grad()
        d_a = self.backward_D(self.netD_A, B, self.fake_B_pool.query(fake_B))
        d_b = self.backward_D(self.netD_B, A, self.fake_A_pool.query(fake_A))
        self.optimizer_D.step()
        return dict(G=gan.item(), cyc=cyc.item(), idt=idt.item(), D_A=d_a, D_B=d_b)


if __name__ == '__main__':
    random.seed(0); np.random.seed(0); torch.manual_seed(0)
    opt = Options()
    loader = DataLoader(UnalignedDataset(opt), batch_size=opt.batch_size, shuffle=True)
    model = CycleGANModel(opt)
    for epoch in range(opt.n_epochs + opt.n_epochs_decay):
        for i, data in enumerate(loader):
            if i >= opt.max_iters:
                break
            losses = model.optimize_parameters(data)
            print('(epoch: %d, iters: %d) ' % (epoch, i) + ' '.join('%s: %.3f' % kv for kv in losses.items()))
        for s in model.schedulers:
            s.step()
    with torch.no_grad():
        visual = model.netG_A(data['A'])
        canvas = torch.cat([data['A'], visual, model.netG_B(visual)], dim=3)
    print('canvas', list(canvas.shape))
