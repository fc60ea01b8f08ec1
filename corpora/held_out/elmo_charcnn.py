# ELMo-ish: character CNN + highway -> 2-layer biLM with projection -> scalar mix -> downstream classifier
import os, random, string, tempfile
from typing import NamedTuple
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

OPTIONS = dict(
    char_cnn=dict(
        activation="relu", embedding=dict(dim=6), filters=[[1, 5], [2, 7], [3, 11]],
        n_highway=2, n_characters=40, max_characters_per_token=9),
    lstm=dict(cell_clip=3, dim=25, n_layers=2, projection_dim=14, use_skip_connections=True),
    dropout=0.1,
)


class Vocab(NamedTuple):
    words: list
    index: dict

    @classmethod
    def build(cls, sents):
        words = ["<unk>"] + sorted({w for s in sents for w in s})
        return cls(words, {w: i for i, w in enumerate(words)})


def fake_language(n, seed):
    """suffix agreement: nouns ending with -o are followed by verbs ending -ok, -a by -ak"""
    rnd = random.Random(seed)
    stems = ["tak", "mil", "ruv", "sen", "plo", "gri"]
    verbs = ["dan", "vers", "tur", "kop"]
    sents = []
    for _ in range(n):
        s = []
        for _ in range(rnd.randint(1, 4)):
            g = rnd.choice("oa")
            s += [rnd.choice(stems) + g, rnd.choice(verbs) + g + "k"]
            if rnd.random() < .4:
                s.append(rnd.choice(["la", "e", "ne"]))
        sents.append(s)
    return sents


class CharEncoderPrep:
    bow, eow, pad = 1, 2, 0
    def __init__(self, max_chars):
        self.max_chars = max_chars
        self.c2i = {c: i + 3 for i, c in enumerate(string.ascii_lowercase)}

    def word(self, w):
        ids = [self.bow] + [self.c2i.get(c, 39) for c in w[:self.max_chars - 2]] + [self.eow]
        return ids + [self.pad] * (self.max_chars - len(ids))

    def batch(self, sents):
        T = max(map(len, sents))
        out = torch.zeros(len(sents), T, self.max_chars, dtype=torch.long)
        for b, s in enumerate(sents):
            out[b, :len(s)] = torch.tensor([self.word(w) for w in s])
        return out


class Highway(nn.Module):
    def __init__(self, input_dim, num_layers=1, activation=F.relu):
        super().__init__()
        self._layers = nn.ModuleList([nn.Linear(input_dim, input_dim * 2) for _ in range(num_layers)])
        self._activation = activation
        for layer in self._layers:
            layer.bias[input_dim:].data.fill_(1)

    def forward(self, inputs):
        current_input = inputs
        for layer in self._layers:
            projected = layer(current_input)
            nonlinear_part, gate = projected.chunk(2, dim=-1)
            nonlinear_part = self._activation(nonlinear_part)
            gate = torch.sigmoid(gate)
            current_input = gate * current_input + (1 - gate) * nonlinear_part
        return current_input


class ElmoCharacterEncoder(nn.Module):
    def __init__(self, options):
        super().__init__()
        cnn = options["char_cnn"]
        d = cnn["embedding"]["dim"]
        self.emb = nn.Embedding(cnn["n_characters"], d, padding_idx=0)
        self.n_filters = sum(f[1] for f in cnn["filters"])
        for i, (width, num) in enumerate(cnn["filters"]):
            conv = nn.Conv1d(in_channels=d, out_channels=num, kernel_size=width, bias=True)
            nn.init.uniform_(conv.weight, a=-0.05 * width, b=0.05 * width) if width > 1 else nn.init.normal_(conv.weight, 0, d ** -.5)
            self.add_module("char_conv_{}".format(i), conv)
        self._convolutions = ["char_conv_{}".format(i) for i in range(len(cnn["filters"]))]
        self.act = {"relu": F.relu, "tanh": torch.tanh}[cnn["activation"]]
        self.highways = Highway(self.n_filters, cnn["n_highway"], activation=F.relu)
        self.projection = nn.Linear(self.n_filters, options["lstm"]["projection_dim"], bias=True)

    def forward(self, chars):
        B, T, W = chars.shape
        mask = (chars > 0).long().sum(dim=-1) > 0
        x = self.emb(chars.view(-1, W)).transpose(1, 2)
        convs = []
        for name in self._convolutions:
            convolved, _ = torch.max(getattr(self, name)(x), dim=-1)
            convs.append(self.act(convolved))
        tok = self.projection(self.highways(torch.cat(convs, dim=-1)))
        return tok.view(B, T, -1), mask


class LstmCellWithProjection(nn.Module):
    def __init__(self, input_size, hidden_size, cell_size, go_forward=True, clip=3.0, rec_dropout=0.0):
        super().__init__()
        self.hidden_size, self.cell_size, self.go_forward, self.clip = hidden_size, cell_size, go_forward, clip
        self.rec_dropout = rec_dropout
        self.input_linearity = nn.Linear(input_size, 4 * cell_size, bias=False)
        self.state_linearity = nn.Linear(hidden_size, 4 * cell_size, bias=True)
        self.state_projection = nn.Linear(cell_size, hidden_size, bias=False)
        for m in (self.input_linearity, self.state_linearity):
            nn.init.orthogonal_(m.weight.data)
        self.state_linearity.bias.data.fill_(0.0)
        self.state_linearity.bias.data[self.cell_size:2 * self.cell_size].fill_(1.0)

    def forward(self, inputs, mask):
        B, T, _ = inputs.size()
        h, c = inputs.new_zeros(B, self.hidden_size), inputs.new_zeros(B, self.cell_size)
        outputs = [None] * T
        drop = None
        if self.rec_dropout > 0 and self.training:
            drop = torch.bernoulli(torch.full_like(h, 1 - self.rec_dropout)) / (1 - self.rec_dropout)
        xproj = self.input_linearity(inputs)
        for t in (range(T) if self.go_forward else reversed(range(T))):
            i, f, g, o = (xproj[:, t] + self.state_linearity(h)).split(self.cell_size, 1)
            mem = torch.sigmoid(i) * torch.tanh(g) + torch.sigmoid(f) * c
            mem = torch.clamp(mem, -self.clip, self.clip)
            out = self.state_projection(torch.sigmoid(o) * torch.tanh(mem)).clamp(-self.clip, self.clip)
            if drop is not None:
                out = out * drop
            m = mask[:, t, None].to(out.dtype)
            h, c = m * out + (1 - m) * h, m * mem + (1 - m) * c
            outputs[t] = out * m
        return torch.stack(outputs, dim=1)


class ElmoBiLM(nn.Module):
    def __init__(self, options, n_words):
        super().__init__()
        self.token_embedder = ElmoCharacterEncoder(options)
        l = options["lstm"]
        self.use_skip = l["use_skip_connections"]
        self.fwd, self.bwd = nn.ModuleList(), nn.ModuleList()
        for _ in range(l["n_layers"]):
            for lst, go in ((self.fwd, True), (self.bwd, False)):
                lst.append(LstmCellWithProjection(l["projection_dim"], l["projection_dim"], l["dim"], go,
                                                  l["cell_clip"], options["dropout"]))
        self.softmax = nn.Linear(l["projection_dim"], n_words)

    def forward(self, chars):
        tok, mask = self.token_embedder(chars)
        layers = [torch.cat([tok, tok], -1) * mask.unsqueeze(-1)]
        f = b = tok
        for k, (lf, lb) in enumerate(zip(self.fwd, self.bwd)):
            nf, nb = lf(f, mask), lb(b, mask)
            if self.use_skip and k > 0:
                nf, nb = nf + f, nb + b
            f, b = nf, nb
            layers.append(torch.cat([f, b], dim=-1))
        return layers, mask

    def lm_loss(self, chars, words):
        layers, mask = self(chars)
        f, b = layers[-1].chunk(2, -1)
        lf = F.cross_entropy(self.softmax(f[:, :-1])[mask[:, 1:]], words[:, 1:][mask[:, 1:]])
        lb = F.cross_entropy(self.softmax(b[:, 1:])[mask[:, 1:]], words[:, :-1][mask[:, 1:]])
        return 0.5 * (lf + lb)


class ScalarMix(nn.Module):
    def __init__(self, mixture_size, do_layer_norm=False):
        super().__init__()
        self.do_layer_norm = do_layer_norm
        self.scalar_parameters = nn.ParameterList([nn.Parameter(torch.tensor([0.0])) for _ in range(mixture_size)])
        self.gamma = nn.Parameter(torch.tensor(1.0))

    def forward(self, tensors, mask=None):
        def _norm(t, bm, n):
            mean = torch.sum(t * bm) / n
            var = torch.sum(((t - mean) * bm) ** 2) / n
            return (t - mean) / torch.sqrt(var + 1e-12)
        weights = torch.split(F.softmax(torch.cat([p for p in self.scalar_parameters]), dim=0), split_size_or_sections=1)
        if not self.do_layer_norm:
            return self.gamma * sum(w * t for w, t in zip(weights, tensors))
        bm = mask.float().unsqueeze(-1)
        n = torch.sum(mask) * tensors[0].size(-1)
        return self.gamma * sum(w * _norm(t, bm, n) for w, t in zip(weights, tensors))


class Classifier(nn.Module):
    def __init__(self, bilm, dim):
        super().__init__()
        self.bilm, self.mix = bilm, ScalarMix(3, do_layer_norm=True)
        self.score, self.out = nn.Linear(dim, 1), nn.Linear(dim, 2)

    def forward(self, chars):
        with torch.no_grad():
            layers, mask = self.bilm(chars)
        x = self.mix(layers, mask)
        a = self.score(x).squeeze(-1).masked_fill(~mask, -1e9).softmax(-1)
        return self.out(torch.bmm(a.unsqueeze(1), x).squeeze(1))


def corrupt(s, rnd):
    i = rnd.choice([k for k, w in enumerate(s) if w.endswith("k")])
    w = s[i]
    return s[:i] + [w[:-2] + ("a" if w[-2] == "o" else "o") + "k"] + s[i + 1:]


def main():
    torch.manual_seed(13)
    rnd = random.Random(4)
    sents = [s for s in fake_language(160, 0) if len(s) > 2]
    vocab, prep = Vocab.build(sents), CharEncoderPrep(OPTIONS["char_cnn"]["max_characters_per_token"])
    bilm = ElmoBiLM(OPTIONS, len(vocab.words))
    opt = torch.optim.Adam(bilm.parameters(), lr=0.02)
    for step in range(36):
        batch = rnd.sample(sents, 12)
        words = nn.utils.rnn.pad_sequence([torch.tensor([vocab.index.get(w, 0) for w in s]) for s in batch], True)
        loss = bilm.lm_loss(prep.batch(batch), words)
        opt.zero_grad(); loss.backward(); opt.step()
        if step % 12 == 11:
            print("biLM step %d ppl %.2f" % (step + 1, np.exp(loss.item())))
    with tempfile.NamedTemporaryFile(suffix=".th", delete=False) as fh:
        torch.save(bilm.state_dict(), fh)
    bilm.load_state_dict(torch.load(fh.name, map_location="cpu"), strict=True)
    os.remove(fh.name)
    bilm.requires_grad_(False).eval()
    clf = Classifier(bilm, 2 * OPTIONS["lstm"]["projection_dim"])
    opt = torch.optim.Adam([p for p in clf.parameters() if p.requires_grad], lr=.03)
    for step in range(25):
        good = rnd.sample(sents, 10)
        bad = [corrupt(s, rnd) for s in good[:7]]
        y = torch.cat([torch.ones(10), torch.zeros(7)]).long()
        logits = clf(prep.batch(good + bad))
        loss = F.cross_entropy(logits, y, weight=torch.tensor([10 / 17, 7 / 17]))
        opt.zero_grad(); loss.backward(); opt.step()
    print("classifier loss %.3f acc %.2f mix %s" % (loss.item(), (logits.argmax(1) == y).float().mean().item(),
                                                    torch.cat(list(clf.mix.scalar_parameters)).softmax(0).tolist()))


if __name__ == "__main__":
    main()
