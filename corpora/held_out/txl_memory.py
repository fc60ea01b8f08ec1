"""Character-level Transformer-XL (recurrent memory + relative positions) on a
synthetic bracket language.  Trimmed-down fork of the original training script."""
import argparse
import math
import os
import tempfile
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def get_args():
    p = argparse.ArgumentParser(description="tiny transformer-xl")
    p.add_argument("--n_layer", type=int, default=3)
    p.add_argument("--n_head", type=int, default=4)
    p.add_argument("--d_head", type=int, default=9)
    p.add_argument("--d_model", type=int, default=36)
    p.add_argument("--d_inner", type=int, default=70)
    p.add_argument("--tgt_len", type=int, default=22)
    p.add_argument("--mem_len", type=int, default=17)
    p.add_argument("--batch_size", type=int, default=5)
    p.add_argument("--steps", type=int, default=30)
    p.add_argument("--lr", type=float, default=2.5e-3)
    p.add_argument("--warmup", type=int, default=5)
    p.add_argument("--clip", type=float, default=0.25)
    p.add_argument("--pre_lnorm", action="store_true")
    p.add_argument("--seed", type=int, default=1111)
    return p.parse_args([])


class Corpus:
    brackets = ["()", "[]", "{}"]

    def __init__(self, n_chars, seed):
        rng = np.random.RandomState(seed)
        out, stack = [], []
        while len(out) < n_chars:
            if stack and (rng.rand() < 0.48 or len(stack) > 6):
                out.append(stack.pop())
            elif rng.rand() < 0.2:
                out.append(rng.choice(list("abc ")))
            else:
                o, c = self.brackets[rng.randint(3)]
                out.append(o)
                stack.append(c)
        self.vocab = sorted(set(out))
        self.stoi = {c: i for i, c in enumerate(self.vocab)}
        self.data = torch.LongTensor([self.stoi[c] for c in out])


class LMOrderedIterator(object):
    def __init__(self, data, bsz, bptt):
        self.bptt = bptt
        n_step = data.size(0) // bsz
        self.data = data.narrow(0, 0, n_step * bsz).view(bsz, -1).t().contiguous()

    def get_batch(self, i):
        seq_len = min(self.bptt, self.data.size(0) - 1 - i)
        return self.data[i:i + seq_len], self.data[i + 1:i + 1 + seq_len], seq_len

    def __iter__(self):
        for i in range(0, self.data.size(0) - 1, self.bptt):
            yield self.get_batch(i)


class PositionalEmbedding(nn.Module):
    def __init__(self, demb):
        super().__init__()
        self.demb = demb
        inv_freq = 1 / (10000 ** (torch.arange(0.0, demb, 2.0) / demb))
        self.register_buffer("inv_freq", inv_freq)

    def forward(self, pos_seq):
        sinusoid_inp = torch.ger(pos_seq, self.inv_freq)
        pos_emb = torch.cat([sinusoid_inp.sin(), sinusoid_inp.cos()], dim=-1)
        return pos_emb[:, None, :]


class PositionwiseFF(nn.Module):
    def __init__(self, d_model, d_inner, dropout, pre_lnorm=False):
        super().__init__()
        self.CoreNet = nn.Sequential(
            nn.Linear(d_model, d_inner), nn.ReLU(inplace=True), nn.Dropout(dropout),
            nn.Linear(d_inner, d_model), nn.Dropout(dropout))
        self.layer_norm = nn.LayerNorm(d_model)
        self.pre_lnorm = pre_lnorm

    def forward(self, inp):
        if self.pre_lnorm:
            return self.CoreNet(self.layer_norm(inp)) + inp
        return self.layer_norm(inp + self.CoreNet(inp))


class RelPartialLearnableMultiHeadAttn(nn.Module):
    def __init__(self, n_head, d_model, d_head, dropout=0.05, pre_lnorm=False):
        super().__init__()
        self.n_head, self.d_head = n_head, d_head
        self.qkv_net = nn.Linear(d_model, 3 * n_head * d_head, bias=False)
        self.r_net = nn.Linear(d_model, n_head * d_head, bias=False)
        self.o_net = nn.Linear(n_head * d_head, d_model, bias=False)
        self.drop = nn.Dropout(dropout)
        self.layer_norm = nn.LayerNorm(d_model)
        self.scale = 1 / (d_head ** 0.5)
        self.pre_lnorm = pre_lnorm

    def _rel_shift(self, x):
        zero_pad = torch.zeros((x.size(0), 1, *x.size()[2:]), device=x.device, dtype=x.dtype)
        x_padded = torch.cat([zero_pad, x], dim=1)
        x_padded = x_padded.view(x.size(1) + 1, x.size(0), *x.size()[2:])
        return x_padded[1:].view_as(x)

    def forward(self, w, r, r_w_bias, r_r_bias, attn_mask=None, mems=None):
        qlen, rlen, bsz = w.size(0), r.size(0), w.size(1)
        cat = w if mems is None else torch.cat([mems, w], 0)
        w_heads = self.qkv_net(self.layer_norm(cat) if self.pre_lnorm else cat)
        w_head_q, w_head_k, w_head_v = torch.chunk(w_heads, 3, dim=-1)
        w_head_q = w_head_q[-qlen:]
        klen = w_head_k.size(0)

        w_head_q = w_head_q.reshape(qlen, bsz, self.n_head, self.d_head)
        w_head_k = w_head_k.reshape(klen, bsz, self.n_head, self.d_head)
        w_head_v = w_head_v.reshape(klen, bsz, self.n_head, self.d_head)
        r_head_k = self.r_net(r).view(rlen, self.n_head, self.d_head)

        AC = torch.einsum("ibnd,jbnd->ijbn", w_head_q + r_w_bias, w_head_k)
        BD = torch.einsum("ibnd,jnd->ijbn", w_head_q + r_r_bias, r_head_k)
        BD = self._rel_shift(BD)
        attn_score = (AC + BD).mul_(self.scale)
        if attn_mask is not None and attn_mask.any().item():
            attn_score = attn_score.masked_fill(attn_mask[:, :, None, None], -float("inf"))
        attn_prob = self.drop(F.softmax(attn_score, dim=1))
        attn_vec = torch.einsum("ijbn,jbnd->ibnd", attn_prob, w_head_v)
        attn_vec = attn_vec.contiguous().view(qlen, bsz, self.n_head * self.d_head)
        attn_out = self.drop(self.o_net(attn_vec))
        return w + attn_out if self.pre_lnorm else self.layer_norm(w + attn_out)


class DecoderLayer(nn.Module):
    def __init__(self, n_head, d_model, d_head, d_inner, **kw):
        super().__init__()
        self.dec_attn = RelPartialLearnableMultiHeadAttn(n_head, d_model, d_head, **kw)
        self.pos_ff = PositionwiseFF(d_model, d_inner, 0.05, pre_lnorm=kw.get("pre_lnorm"))

    def forward(self, x, r, u, v, mask, mems):
        return self.pos_ff(self.dec_attn(x, r, u, v, attn_mask=mask, mems=mems))


class MemTransformerLM(nn.Module):
    def __init__(self, n_token, args):
        super().__init__()
        self.mem_len, self.d_model = args.mem_len, args.d_model
        self.word_emb = nn.Embedding(n_token, args.d_model)
        self.pos_emb = PositionalEmbedding(args.d_model)
        self.layers = nn.ModuleList()
        for _ in range(args.n_layer):
            self.layers.append(DecoderLayer(args.n_head, args.d_model, args.d_head,
                                            args.d_inner, pre_lnorm=args.pre_lnorm))
        self.r_w_bias = nn.Parameter(torch.zeros(args.n_head, args.d_head))
        self.r_r_bias = nn.Parameter(torch.zeros(args.n_head, args.d_head))
        self.out_bias = nn.Parameter(torch.zeros(n_token))
        nn.init.normal_(self.word_emb.weight, 0.0, 0.05)

    def _update_mems(self, hids, mems):
        with torch.no_grad():
            if not mems:
                return [h[-self.mem_len:].detach() for h in hids]
            return [torch.cat([m, h], 0)[-self.mem_len:].detach() for m, h in zip(mems, hids)]

    def forward(self, data, target, *mems):
        qlen, bsz = data.size()
        mlen = mems[0].size(0) if mems else 0
        klen = mlen + qlen
        core_out = self.word_emb(data) * math.sqrt(self.d_model)
        mask = torch.triu(core_out.new_ones(qlen, klen), diagonal=1 + mlen).bool()
        pos_seq = torch.arange(klen - 1, -1, -1.0, dtype=core_out.dtype)
        pos = self.pos_emb(pos_seq).squeeze(1)
        hids = [core_out]
        for i, layer in enumerate(self.layers):
            core_out = layer(core_out, pos, self.r_w_bias, self.r_r_bias, mask,
                             mems[i] if mems else None)
            hids.append(core_out)
        logits = F.linear(core_out, self.word_emb.weight, self.out_bias)  # tied
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), target.reshape(-1), reduction="none")
        return [loss.view(qlen, bsz)] + self._update_mems(hids[:-1], mems)


def evaluate(model, it, mem_len):
    model.eval()
    old, model.mem_len = model.mem_len, mem_len
    total, n, mems = 0.0, 0, tuple()
    with torch.no_grad():
        for data, target, seq_len in it:
            loss, *mems = model(data, target, *mems)
            total += seq_len * loss.mean().item()
            n += seq_len
    model.mem_len = old
    model.train()
    return total / n


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    corpus = Corpus(5200, args.seed)
    tr = LMOrderedIterator(corpus.data[:4500], args.batch_size, args.tgt_len)
    va = LMOrderedIterator(corpus.data[4500:], 2, args.tgt_len - 8)
    model = MemTransformerLM(len(corpus.vocab), args)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.LambdaLR(
        opt, lambda s: min(1.0, (s + 1) / args.warmup) * (0.5 * (1 + math.cos(math.pi * s / args.steps))))
    print("#params = {}".format(sum(p.nelement() for p in model.parameters())))
    mems, t0, train_loss = tuple(), time.time(), 0.0
    for step, (data, target, seq_len) in enumerate(tr, 1):
        model.zero_grad()
        loss, *mems = model(data, target, *mems)
        loss = loss.float().mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        opt.step()
        sched.step()
        train_loss += loss.item()
        if step % 10 == 0:
            print("| step {:3d} | lr {:.2e} | ms/batch {:5.1f} | bpc {:.3f}".format(
                step, opt.param_groups[0]["lr"], (time.time() - t0) * 1000 / step,
                train_loss / 10 / math.log(2)))
            train_loss = 0.0
        if step == args.steps:
            break
    val = evaluate(model, va, args.mem_len + 11)
    with tempfile.TemporaryDirectory() as d:
        fn = os.path.join(d, "model.pt")
        torch.save(model.state_dict(), fn)
        model.load_state_dict(torch.load(fn))
    print("valid ppl {:.3f}".format(math.exp(val)))


if __name__ == "__main__":
    main()
