import argparse
import os
import tempfile
from typing import Optional, Tuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

# (dim, kernel, stride)
CONV_LAYERS = "[(32, 10, 5)] + [(40, 3, 2)] * 2 + [(48, 2, 2)]"


class ToneDataset(Dataset):
    """Random sequences of chirps at 4kHz, of varied duration."""

    def __init__(self, size: int, sample_rate: int = 4000, min_sec: float = 0.7, max_sec: float = 1.1):
        self.size, self.sr = size, sample_rate
        self.min_len, self.max_len = int(min_sec * sample_rate), int(max_sec * sample_rate)

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        rng = np.random.default_rng(index)
        length = rng.integers(self.min_len, self.max_len)
        wav = np.zeros(length, dtype=np.float32)
        pos = 0
        while pos < length:
            dur = min(int(rng.integers(200, 600)), length - pos)
            f = rng.choice([220, 330, 440, 600, 900, 1300])
            t = np.arange(dur) / self.sr
            wav[pos:pos + dur] = np.sin(2 * np.pi * f * t) * np.hanning(dur)
            pos += dur
        wav += 0.02 * rng.standard_normal(length).astype(np.float32)
        wav = torch.from_numpy(wav)
        return {"id": index, "source": F.layer_norm(wav, wav.shape)}

    def collater(self, samples):
        sources = [s["source"] for s in samples]
        target = max(len(s) for s in sources)
        collated = sources[0].new_zeros(len(sources), target)
        padding_mask = torch.BoolTensor(collated.shape).fill_(False)
        for i, src in enumerate(sources):
            diff = len(src) - target
            collated[i] = torch.cat([src, src.new_full((-diff,), 0.0)]) if diff else src
            if diff:
                padding_mask[i, diff:] = True
        return {"id": torch.LongTensor([s["id"] for s in samples]),
                "net_input": {"source": collated, "padding_mask": padding_mask}}


def compute_mask_indices(shape: Tuple[int, int], padding_mask: Optional[torch.Tensor], mask_prob: float,
                         mask_length: int, rng, min_masks: int = 2):
    bsz, all_sz = shape
    mask = np.full((bsz, all_sz), False)
    idcs = []
    for i in range(bsz):
        sz = all_sz if padding_mask is None else all_sz - padding_mask[i].long().sum().item()
        num = max(min_masks, int(mask_prob * sz / float(mask_length) + rng.random()))
        starts = rng.choice(sz - mask_length, num, replace=False)
        idc = np.unique(np.concatenate([starts + o for o in range(mask_length)]))
        idcs.append(idc[idc < sz])
    # same number of masked steps in each row, so that the masked frames can be viewed as (B, M, C)
    n = min(len(m) for m in idcs)
    for i, idc in enumerate(idcs):
        if len(idc) > n:
            idc = rng.choice(idc, n, replace=False)
        mask[i, idc] = True
    return mask


class GradMultiply(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.scale = scale
        return x.new(x)

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.scale, None


class TransposeLast(nn.Module):
    def forward(self, x):
        return x.transpose(-2, -1)


class ConvFeatureExtraction(nn.Module):
    def __init__(self, conv_layers, dropout=0.0):
        super().__init__()

        def block(n_in, n_out, k, stride, is_group_norm):
            conv = nn.Conv1d(n_in, n_out, k, stride=stride, bias=False)
            norm = nn.GroupNorm(n_out, n_out) if is_group_norm else \
                nn.Sequential(TransposeLast(), nn.LayerNorm(n_out), TransposeLast())
            return nn.Sequential(conv, nn.Dropout(dropout), norm, nn.GELU())

        in_d = 1
        self.conv_layers = nn.ModuleList()
        for i, (dim, k, stride) in enumerate(conv_layers):
            self.conv_layers.append(block(in_d, dim, k, stride, is_group_norm=i == 0))
            in_d = dim

    def forward(self, x):
        x = x.unsqueeze(1)
        for conv in self.conv_layers:
            x = conv(x)
        return x


class GumbelVectorQuantizer(nn.Module):
    def __init__(self, dim, num_vars, temp, groups, vq_dim):
        super().__init__()
        self.groups, self.num_vars = groups, num_vars
        self.max_temp, self.min_temp, self.temp_decay = temp
        self.curr_temp = self.max_temp
        var_dim = vq_dim // groups
        self.vars = nn.Parameter(torch.FloatTensor(1, groups * num_vars, var_dim))
        nn.init.uniform_(self.vars)
        self.weight_proj = nn.Linear(dim, groups * num_vars)
        nn.init.normal_(self.weight_proj.weight, mean=0, std=1)

    def set_num_updates(self, num_updates):
        self.curr_temp = max(self.max_temp * self.temp_decay ** num_updates, self.min_temp)

    def forward(self, x):
        bsz, tsz, fsz = x.shape
        x = self.weight_proj(x.reshape(-1, fsz))
        x = x.view(bsz * tsz * self.groups, -1)
        _, k = x.max(-1)
        hard_x = x.new_zeros(*x.shape).scatter_(-1, k.view(-1, 1), 1.0).view(bsz * tsz, self.groups, -1)
        hard_probs = hard_x.float().mean(dim=0)
        code_ppl = torch.exp(-torch.sum(hard_probs * torch.log(hard_probs + 1e-7), dim=-1)).sum()
        avg_probs = torch.softmax(x.view(bsz * tsz, self.groups, -1).float(), dim=-1).mean(dim=0)
        prob_ppl = torch.exp(-torch.sum(avg_probs * torch.log(avg_probs + 1e-7), dim=-1)).sum()
        x = F.gumbel_softmax(x.float(), tau=self.curr_temp, hard=True).type_as(x) if self.training else hard_x
        x = x.view(bsz * tsz, -1).unsqueeze(-1) * self.vars
        x = x.view(bsz * tsz, self.groups, self.num_vars, -1).sum(-2)
        x = x.view(bsz, tsz, -1)
        return {"x": x, "code_perplexity": code_ppl, "prob_perplexity": prob_ppl,
                "num_vars": self.num_vars * self.groups, "ids": k.view(bsz, tsz, self.groups)}


class TransformerEncoder(nn.Module):
    def __init__(self, args):
        super().__init__()
        d = args.encoder_embed_dim
        self.pos_conv = nn.Conv1d(d, d, kernel_size=args.conv_pos, padding=args.conv_pos // 2, groups=args.conv_pos_groups)
        self.pos_conv = nn.utils.parametrizations.weight_norm(self.pos_conv, name="weight", dim=2)
        self.layers = nn.ModuleList([
            nn.TransformerEncoderLayer(d, args.encoder_heads, dim_feedforward=args.encoder_ffn_dim, dropout=0.1,
                                       activation="gelu", batch_first=False)
            for _ in range(args.encoder_layers)])
        self.layer_norm = nn.LayerNorm(d)
        self.layerdrop = args.layerdrop

    def forward(self, x, padding_mask=None):
        if padding_mask is not None:
            x = x.masked_fill(padding_mask.unsqueeze(-1), 0)
        x_conv = self.pos_conv(x.transpose(1, 2))[:, :, :x.size(1)]
        x = x + F.gelu(x_conv).transpose(1, 2)
        x = self.layer_norm(x).transpose(0, 1)
        for layer in self.layers:
            if not self.training or np.random.random() > self.layerdrop:
                x = layer(x, src_key_padding_mask=padding_mask)
        return x.transpose(0, 1)


class Wav2Vec2Model(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.args = args
        self.conv_layers = eval(args.conv_feature_layers)
        self.embed = self.conv_layers[-1][0]
        self.feature_extractor = ConvFeatureExtraction(self.conv_layers)
        self.layer_norm = nn.LayerNorm(self.embed)
        self.post_extract_proj = nn.Linear(self.embed, args.encoder_embed_dim)
        self.quantizer = GumbelVectorQuantizer(self.embed, args.latent_vars, (2.0, 0.5, 0.999), args.latent_groups, args.latent_dim)
        self.project_q = nn.Linear(args.latent_dim, args.final_dim)
        self.mask_emb = nn.Parameter(torch.FloatTensor(args.encoder_embed_dim).uniform_())
        self.encoder = TransformerEncoder(args)
        self.final_proj = nn.Linear(args.encoder_embed_dim, args.final_dim)
        self.rng = np.random.default_rng(args.seed)

    def _get_feat_extract_output_lengths(self, input_lengths):
        for _, k, s in self.conv_layers:
            input_lengths = torch.floor((input_lengths - k) / s + 1)
        return input_lengths.to(torch.long)

    def apply_mask(self, x, padding_mask):
        B, T, C = x.shape
        mask = compute_mask_indices((B, T), padding_mask, self.args.mask_prob, self.args.mask_length, self.rng)
        mask = torch.from_numpy(mask)
        x[mask] = self.mask_emb
        return x, mask

    def sample_negatives(self, y):
        n_neg = self.args.num_negatives
        bsz, tsz, fsz = y.shape
        y = y.reshape(-1, fsz)
        with torch.no_grad():
            tszs = torch.arange(tsz).unsqueeze(-1).expand(-1, n_neg).flatten()
            neg_idxs = torch.randint(low=0, high=tsz - 1, size=(bsz, n_neg * tsz))
            neg_idxs[neg_idxs >= tszs] += 1
            neg_idxs += tsz * torch.arange(bsz).unsqueeze(1)
        negs = y[neg_idxs.view(-1)]
        return negs.view(bsz, tsz, n_neg, fsz).permute(2, 0, 1, 3)

    def compute_preds(self, x, y, negatives):
        neg_is_pos = (y == negatives).all(-1)
        targets = torch.cat([y.unsqueeze(0), negatives], dim=0)
        logits = torch.cosine_similarity(x.float(), targets.float(), dim=-1).type_as(x) / self.args.logit_temp
        if neg_is_pos.any():
            logits[1:][neg_is_pos] = float("-inf")
        return logits

    def forward(self, source, padding_mask=None):
        features = self.feature_extractor(source)
        features = GradMultiply.apply(features, self.args.feature_grad_mult)
        features_pen = features.float().pow(2).mean()
        features = self.layer_norm(features.transpose(1, 2))
        unmasked = features.clone()
        if padding_mask is not None and padding_mask.any():
            input_lengths = (1 - padding_mask.long()).sum(-1)
            out_lengths = self._get_feat_extract_output_lengths(input_lengths)
            padding_mask = torch.zeros(features.shape[:2], dtype=features.dtype)
            padding_mask[(torch.arange(padding_mask.shape[0]), out_lengths - 1)] = 1
            padding_mask = (1 - padding_mask.flip([-1]).cumsum(-1).flip([-1])).bool()
        else:
            padding_mask = None
        x = self.post_extract_proj(features)
        x, mask = self.apply_mask(x, padding_mask)
        y = unmasked[mask].view(unmasked.size(0), -1, unmasked.size(-1))
        x = self.encoder(x, padding_mask=padding_mask)
        q = self.quantizer(y)
        y = self.project_q(q["x"])
        negs = self.sample_negatives(y)
        x = x[mask].view(x.size(0), -1, x.size(-1))
        x = self.compute_preds(self.final_proj(x), y, negs)
        return {"x": x, "features_pen": features_pen, **{k: q[k] for k in ("code_perplexity", "prob_perplexity", "num_vars")}}


def criterion(net_output, weights=(0.1, 10.0)):
    logits = net_output["x"].transpose(0, 2)
    logits = logits.reshape(-1, logits.size(-1))
    target = logits.new_zeros(logits.size(0), dtype=torch.long)
    loss = F.cross_entropy(logits, target, reduction="sum")
    sample_size = target.numel()
    extra = [(net_output["num_vars"] - net_output["prob_perplexity"]) / net_output["num_vars"], net_output["features_pen"]]
    for p, w in zip(extra, weights):
        loss = loss + w * p.float() * sample_size
    correct = (logits.argmax(-1) == 0).long().sum().item()
    return loss, sample_size, {"correct": correct, "count": sample_size, "ppl": net_output["code_perplexity"].item()}


def get_parser():
    p = argparse.ArgumentParser()
    p.add_argument("--conv-feature-layers", default=CONV_LAYERS)
    p.add_argument("--encoder-embed-dim", type=int, default=64)
    p.add_argument("--encoder-ffn-dim", type=int, default=144)
    p.add_argument("--encoder-layers", type=int, default=2)
    p.add_argument("--encoder-heads", type=int, default=4)
    p.add_argument("--conv-pos", type=int, default=16)
    p.add_argument("--latent-vars", type=int, default=20)
    p.add_argument("--latent-groups", type=int, default=2)
    p.add_argument("--latent-dim", type=int, default=28)
    p.add_argument("--final-dim", type=int, default=36)
    p.add_argument("--num-negatives", type=int, default=11)
    for name, value in dict(mask_prob=0.5, mask_length=6, logit_temp=0.1, feature_grad_mult=0.1, layerdrop=0.05,
                            conv_pos_groups=8, batch_size=3, update_freq=2, max_update=2, warmup=2, lr=5e-4, seed=1).items():
        p.add_argument("--" + name.replace("_", "-"), type=type(value), default=value)
    return p


def main():
    args = get_parser().parse_args()
    torch.manual_seed(args.seed), np.random.seed(args.seed)
    ds = ToneDataset(args.batch_size * args.update_freq * args.max_update)
    loader = DataLoader(ds, batch_size=args.batch_size, collate_fn=ds.collater)
    model = Wav2Vec2Model(args)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr, betas=(0.9, 0.98), eps=1e-6)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda n: min(1.0, (n + 1) / args.warmup))
    updates, acc_size, logs = 0, 0, []
    model.train()
    for i, sample in enumerate(loader):
        loss, size, lg = criterion(model(**sample["net_input"]))
        loss.backward()
        acc_size, logs = acc_size + size, logs + [lg]
        if (i + 1) % args.update_freq:
            continue
        for p in model.parameters():
            if p.grad is not None:
                p.grad.div_(acc_size)
        opt.step()
        opt.zero_grad()
        sched.step()
        updates += 1
        model.quantizer.set_num_updates(updates)
        acc = sum(l["correct"] for l in logs) / sum(l["count"] for l in logs)
        print(f"update {updates} loss {loss.item() / size / np.log(2):.3f} acc {acc:.3f} ppl {lg['ppl']:.2f} temp {model.quantizer.curr_temp:.3f}")
        acc_size, logs = 0, []
    with tempfile.TemporaryDirectory() as d:
        f = os.path.join(d, "checkpoint_last.pt")
        torch.save({"args": vars(args), "model": model.state_dict()}, f)
        state = torch.load(f)
        model = Wav2Vec2Model(argparse.Namespace(**state["args"]))
        model.load_state_dict(state["model"], strict=True)
    model.eval()
    with torch.no_grad():
        feats = model.layer_norm(model.feature_extractor(ds[0]["source"][None]).transpose(1, 2))
        ids = model.quantizer(feats)["ids"]
    print("codes", ids.shape, ids[0, :6].tolist())


if __name__ == "__main__":
    main()
