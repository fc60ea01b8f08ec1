import argparse
import re
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

COLORS = ["red", "green", "blue", "white"]
SHAPES = ["circle", "square", "cross"]


def get_args_parser():
    parser = argparse.ArgumentParser('CLIP pretraining', add_help=False)
    parser.add_argument('--batch-size', default=6, type=int)
    parser.add_argument('--epochs', default=2, type=int)
    parser.add_argument('--lr', default=1e-3, type=float)
    parser.add_argument('--embed-dim', default=20, type=int)
    parser.add_argument('--vision-width', default=16, type=int)
    parser.add_argument('--text-width', default=28, type=int)
    parser.add_argument('--text-heads', default=4, type=int)
    parser.add_argument('--text-layers', default=2, type=int)
    parser.add_argument('--context-length', default=9, type=int)
    parser.add_argument('--image-size', default=24, type=int)
    return parser


class SimpleTokenizer(object):
    def __init__(self, corpus, context_length):
        words = sorted({w for line in corpus for w in re.findall(r"\w+", line.lower())})
        self.encoder = {w: i + 3 for i, w in enumerate(words)}
        self.pad, self.sot, self.eot = 0, 1, 2
        self.context_length = context_length

    def __len__(self):
        return len(self.encoder) + 3

    def __call__(self, texts):
        if isinstance(texts, str):
            texts = [texts]
        result = torch.zeros(len(texts), self.context_length, dtype=torch.long)
        for i, t in enumerate(texts):
            tokens = [self.sot] + [self.encoder[w] for w in re.findall(r"\w+", t.lower())] + [self.eot]
            tokens = tokens[:self.context_length]
            result[i, :len(tokens)] = torch.tensor(tokens)
        return result


def draw(color, shape, size):
    img = np.zeros((size, size, 3), dtype=np.float32)
    value = np.array({"red": (1, 0, 0), "green": (0, 1, 0), "blue": (0, 0, 1), "white": (1, 1, 1)}[color])
    cy, cx = np.random.randint(size // 3, 2 * size // 3, size=2)
    yy, xx = np.mgrid[:size, :size]
    r = size // 5
    if shape == "circle":
        mask = (yy - cy) ** 2 + (xx - cx) ** 2 < r * r
    elif shape == "square":
        mask = (abs(yy - cy) < r) & (abs(xx - cx) < r)
    else:
        mask = (abs(yy - cy) < 2) | (abs(xx - cx) < 2)
    img[mask] = value
    return img.transpose(2, 0, 1)


class ResidualAttentionBlock(nn.Module):
    def __init__(self, d_model, n_head, attn_mask=None):
        super().__init__()
        self.attn = nn.MultiheadAttention(d_model, n_head)
        self.ln_1 = nn.LayerNorm(d_model)
        self.mlp = nn.Sequential(nn.Linear(d_model, d_model * 4), nn.GELU(), nn.Linear(d_model * 4, d_model))
        self.ln_2 = nn.LayerNorm(d_model)
        self.attn_mask = attn_mask

    def attention(self, x):
        mask = self.attn_mask.to(dtype=x.dtype, device=x.device) if self.attn_mask is not None else None
        return self.attn(x, x, x, need_weights=False, attn_mask=mask)[0]

    def forward(self, x):
        x = x + self.attention(self.ln_1(x))
        x = x + self.mlp(self.ln_2(x))
        return x


class AttentionPool2d(nn.Module):
    def __init__(self, spacial_dim, embed_dim, num_heads, output_dim):
        super().__init__()
        self.positional_embedding = nn.Parameter(torch.randn(spacial_dim ** 2 + 1, embed_dim) / embed_dim ** 0.5)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.c_proj = nn.Linear(embed_dim, output_dim)
        self.num_heads = num_heads

    def forward(self, x):
        x = x.flatten(start_dim=2).permute(2, 0, 1)  # NCHW -> (HW)NC
        x = torch.cat([x.mean(dim=0, keepdim=True), x], dim=0)
        x = x + self.positional_embedding[:, None, :]
        L, N, C = x.shape
        h = self.num_heads
        q = self.q_proj(x[:1]).reshape(1, N * h, C // h).transpose(0, 1)
        k = self.k_proj(x).reshape(L, N * h, C // h).transpose(0, 1)
        v = self.v_proj(x).reshape(L, N * h, C // h).transpose(0, 1)
        w = torch.softmax(torch.bmm(q, k.transpose(1, 2)) * (C // h) ** -0.5, dim=-1)
        out = torch.bmm(w, v).transpose(0, 1).reshape(1, N, C)
        return self.c_proj(out).squeeze(0)


class VisionTower(nn.Module):
    def __init__(self, width, image_size, output_dim):
        super().__init__()
        layers = []
        c_in = 3
        for mult in (1, 2, 4):
            layers += [nn.Conv2d(c_in, width * mult, 3, stride=2, padding=1, bias=False),
                       nn.BatchNorm2d(width * mult), nn.ReLU(inplace=True)]
            c_in = width * mult
        self.stem = nn.Sequential(*layers)
        self.attnpool = AttentionPool2d(image_size // 8, c_in, 4, output_dim)

    def forward(self, x):
        return self.attnpool(self.stem(x))


class CLIP(nn.Module):
    def __init__(self, args, vocab_size):
        super().__init__()
        self.context_length = args.context_length
        self.visual = VisionTower(args.vision_width, args.image_size, args.embed_dim)
        self.transformer = nn.Sequential(
            *[ResidualAttentionBlock(args.text_width, args.text_heads, self.build_attention_mask())
              for _ in range(args.text_layers)])
        self.token_embedding = nn.Embedding(vocab_size, args.text_width)
        self.positional_embedding = nn.Parameter(torch.empty(self.context_length, args.text_width))
        self.ln_final = nn.LayerNorm(args.text_width)
        self.text_projection = nn.Parameter(torch.empty(args.text_width, args.embed_dim))
        self.logit_scale = nn.Parameter(torch.ones([]) * np.log(1 / 0.07))
        self.initialize_parameters()

    def initialize_parameters(self):
        nn.init.normal_(self.token_embedding.weight, std=0.02)
        nn.init.normal_(self.positional_embedding, std=0.01)
        nn.init.normal_(self.text_projection, std=self.transformer[0].ln_1.normalized_shape[0] ** -0.5)

    def build_attention_mask(self):
        mask = torch.empty(self.context_length, self.context_length)
        mask.fill_(float("-inf"))
        mask.triu_(1)
        return mask

    def encode_image(self, image):
        return self.visual(image)

    def encode_text(self, text):
        x = self.token_embedding(text)  # [batch_size, n_ctx, d_model]
        x = x + self.positional_embedding
        x = x.permute(1, 0, 2)  # NLD -> LND
        x = self.transformer(x)
        x = x.permute(1, 0, 2)
        x = self.ln_final(x)
        return x[torch.arange(x.shape[0]), (text == 2).int().argmax(dim=-1)] @ self.text_projection

    def forward(self, image, text):
        image_features = F.normalize(self.encode_image(image), dim=-1)
        text_features = F.normalize(self.encode_text(text), dim=-1)
        logit_scale = self.logit_scale.exp()
        logits_per_image = logit_scale * image_features @ text_features.t()
        return logits_per_image, logits_per_image.t()


def zero_shot(model, tokenizer, images, labels):
    model.eval()
    with torch.no_grad():
        weights = []
        for shape in SHAPES:
            texts = tokenizer([f"a {color} {shape}" for color in COLORS])
            class_embedding = F.normalize(model.encode_text(texts), dim=-1).mean(dim=0)
            class_embedding /= class_embedding.norm()
            weights.append(class_embedding)
        weights = torch.stack(weights, dim=1)
        features = F.normalize(model.encode_image(images), dim=-1)
        logits = 100. * features @ weights
        pred = logits.topk(2, 1, True, True)[1].t()
        correct = pred.eq(labels.view(1, -1).expand_as(pred))
        return [float(correct[:k].reshape(-1).float().sum(0)) * 100 / len(labels) for k in (1, 2)]


def main(args):
    torch.manual_seed(3)
    np.random.seed(3)
    pairs = [(c, s) for c in COLORS for s in SHAPES]
    captions = [f"a photo of a {c} {s}" for c, s in pairs]
    images = np.stack([draw(c, s, args.image_size) for c, s in pairs])
    tokenizer = SimpleTokenizer(captions, args.context_length)
    model = CLIP(args, len(tokenizer))
    decay = [p for n, p in model.named_parameters() if p.ndim >= 2 and 'bias' not in n]
    no_decay = [p for n, p in model.named_parameters() if not (p.ndim >= 2 and 'bias' not in n)]
    optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": no_decay, "weight_decay": 0.}], lr=args.lr)
    for epoch in range(args.epochs):
        model.train()
        order = np.random.permutation(len(pairs))
        for start in range(0, len(order), args.batch_size):
            idx = order[start:start + args.batch_size]
            image = torch.from_numpy(images[idx])
            text = tokenizer([captions[i] for i in idx])
            logits_per_image, logits_per_text = model(image, text)
            target = torch.arange(len(idx))
            loss = (F.cross_entropy(logits_per_image, target) + F.cross_entropy(logits_per_text, target)) / 2
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                model.logit_scale.clamp_(0, np.log(100))
        print(f"Epoch [{epoch + 1}/{args.epochs}] loss {loss.item():.3f}")
    labels = torch.tensor([SHAPES.index(s) for _, s in pairs])
    print(zero_shot(model, tokenizer, torch.from_numpy(images), labels))


if __name__ == '__main__':
    main(get_args_parser().parse_args())
