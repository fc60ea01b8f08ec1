"""CTR models on a synthetic click log: DeepFM, DLRM and DCN-v2 from one config."""
import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, Dataset, random_split

CONFIG = {
    'data': {
        'num_rows': 900,
        'cardinalities': {'user': 120, 'item': 75, 'category': 9, 'device': 4, 'hour': 24},
        'dense': ['age', 'price', 'dwell', 'ctr_7d'],
        'history_len': 8,
    },
    'models': [
        {'name': 'deepfm', 'embed_dim': 10, 'mlp': [64, 32], 'dropout': 0.1},
        {'name': 'dlrm', 'embed_dim': 14, 'bottom_mlp': [40, 14], 'top_mlp': [50, 20]},
        {'name': 'dcn', 'embed_dim': 6, 'num_cross': 2, 'low_rank': 5, 'mlp': [48]},
    ],
    'train': {'batch_size': 200, 'lr': 1e-2, 'max_steps': 3, 'seed': 2024, 'l2_emb': 1e-5},
}

MODELS = {}


def register(name):
    def deco(cls):
        assert name not in MODELS
        MODELS[name] = cls
        return cls
    return deco


class ClickLog(Dataset):
    def __init__(self, num_rows, cardinalities, dense, history_len, seed=0):
        rng = np.random.default_rng(seed)
        self.fields = list(cardinalities)
        self.sparse = np.stack([rng.zipf(1.3, num_rows) % n for n in cardinalities.values()], axis=1).astype(np.int64)
        raw = rng.lognormal(size=(num_rows, len(dense)))
        self.dense = StandardScaler().fit_transform(np.log1p(raw)).astype(np.float32)
        u, v = rng.normal(size=(cardinalities['user'], 3)), rng.normal(size=(cardinalities['item'], 3))
        score = (u[self.sparse[:, 0]] * v[self.sparse[:, 1]]).sum(1) + 0.7 * self.dense[:, 1] - 0.5
        self.label = (rng.random(num_rows) < 1 / (1 + np.exp(-score))).astype(np.float32)
        # clicked items, variable length, 0 stands for padding
        self.history = [rng.integers(1, cardinalities['item'], rng.integers(0, history_len + 1)) for _ in range(num_rows)]
        self.history_len = history_len

    def __len__(self):
        return len(self.label)

    def __getitem__(self, i):
        hist = np.zeros(self.history_len, dtype=np.int64)
        h = self.history[i]
        hist[:len(h)] = h
        return {'sparse': self.sparse[i], 'dense': self.dense[i], 'history': hist, 'label': self.label[i]}


class FeaturesLinear(nn.Module):
    def __init__(self, field_dims, output_dim=1):
        super().__init__()
        self.fc = nn.Embedding(sum(field_dims), output_dim)
        self.bias = nn.Parameter(torch.zeros((output_dim,)))
        self.offsets = np.array((0, *np.cumsum(field_dims)[:-1]), dtype=np.int64)

    def forward(self, x):
        x = x + x.new_tensor(self.offsets).unsqueeze(0)
        return torch.sum(self.fc(x), dim=1) + self.bias


class FeaturesEmbedding(nn.Module):
    def __init__(self, field_dims, embed_dim):
        super().__init__()
        self.embedding = nn.Embedding(sum(field_dims), embed_dim)
        self.offsets = np.array((0, *np.cumsum(field_dims)[:-1]), dtype=np.int64)
        nn.init.xavier_uniform_(self.embedding.weight.data)

    def forward(self, x):
        x = x + x.new_tensor(self.offsets).unsqueeze(0)
        return self.embedding(x)


class FactorizationMachine(nn.Module):
    def __init__(self, reduce_sum=True):
        super().__init__()
        self.reduce_sum = reduce_sum

    def forward(self, x):
        square_of_sum = torch.sum(x, dim=1) ** 2
        sum_of_square = torch.sum(x ** 2, dim=1)
        ix = square_of_sum - sum_of_square
        if self.reduce_sum:
            ix = torch.sum(ix, dim=1, keepdim=True)
        return 0.5 * ix


class MultiLayerPerceptron(nn.Module):
    def __init__(self, input_dim, embed_dims, dropout=0., output_layer=True, batch_norm=True):
        super().__init__()
        layers = list()
        for embed_dim in embed_dims:
            layers.append(nn.Linear(input_dim, embed_dim))
            if batch_norm:
                layers.append(nn.BatchNorm1d(embed_dim))
            layers.append(nn.ReLU())
            layers.append(nn.Dropout(p=dropout))
            input_dim = embed_dim
        if output_layer:
            layers.append(nn.Linear(input_dim, 1))
        self.mlp = nn.Sequential(*layers)
        self.out_dim = 1 if output_layer else input_dim

    def forward(self, x):
        return self.mlp(x)


class TargetAttention(nn.Module):
    """DIN style pooling of the click history with respect to the candidate item"""

    def __init__(self, dim, hidden=16):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(4 * dim, hidden), nn.PReLU(), nn.Linear(hidden, 1))

    def forward(self, target, seq, mask):
        q = target.unsqueeze(1).expand_as(seq)
        s = self.score(torch.cat([q, seq, q - seq, q * seq], dim=-1)).squeeze(-1)
        s = s.masked_fill(~mask, -1e9).softmax(dim=-1)
        s = s * mask.any(dim=1, keepdim=True)
        return torch.bmm(s[:, None, :], seq)[:, 0]


class CTRBase(nn.Module):
    def __init__(self, field_names, field_dims, num_dense, embed_dim):
        super().__init__()
        self.field_names, self.field_dims = field_names, field_dims
        self.num_fields, self.num_dense, self.embed_dim = len(field_dims), num_dense, embed_dim
        self.embedding = FeaturesEmbedding(field_dims, embed_dim)
        self.hist_attn = TargetAttention(embed_dim)
        self.item_idx = field_names.index('item')

    def embed(self, batch):
        emb = self.embedding(batch['sparse'])
        hist = batch['history']
        off = int(self.embedding.offsets[self.item_idx])
        seq = self.embedding.embedding(hist + off)
        pooled = self.hist_attn(emb[:, self.item_idx], seq, hist > 0)
        return torch.cat([emb, pooled.unsqueeze(1)], dim=1)

    def l2(self):
        return self.embedding.embedding.weight.pow(2).sum()


@register('deepfm')
class DeepFM(CTRBase):
    def __init__(self, field_names, field_dims, num_dense, embed_dim, mlp, dropout):
        super().__init__(field_names, field_dims, num_dense, embed_dim)
        self.linear = FeaturesLinear(field_dims)
        self.dense_linear = nn.Linear(num_dense, 1, bias=False)
        self.dense_embed = nn.Parameter(torch.randn(num_dense, embed_dim) * 0.01)
        self.fm = FactorizationMachine()
        self.mlp = MultiLayerPerceptron((self.num_fields + 1 + num_dense) * embed_dim, mlp, dropout)

    def forward(self, batch):
        dense = batch['dense']
        e = self.embed(batch)
        d = dense.unsqueeze(-1) * self.dense_embed
        e = torch.cat((e, d), dim=1)
        x = self.linear(batch['sparse']) + self.dense_linear(dense) + self.fm(e) + self.mlp(e.flatten(start_dim=1))
        return x.squeeze(1)


@register('dlrm')
class DLRM(CTRBase):
    def __init__(self, field_names, field_dims, num_dense, embed_dim, bottom_mlp, top_mlp, itself=False):
        super().__init__(field_names, field_dims, num_dense, embed_dim)
        assert bottom_mlp[-1] == embed_dim
        self.bot_l = MultiLayerPerceptron(num_dense, bottom_mlp, output_layer=False, batch_norm=False)
        self.itself = itself
        n = self.num_fields + 2
        n_int = n * (n + 1) // 2 if itself else n * (n - 1) // 2
        self.top_l = MultiLayerPerceptron(embed_dim + n_int, top_mlp, batch_norm=False)

    def interact(self, x, ly):
        (batch_size, d) = x.shape
        T = torch.cat([x.view(batch_size, 1, d), ly], dim=1)
        Z = torch.bmm(T, torch.transpose(T, 1, 2))
        _, ni, nj = Z.shape
        offset = 1 if self.itself else 0
        li = torch.tensor([i for i in range(ni) for j in range(i + offset)])
        lj = torch.tensor([j for i in range(nj) for j in range(i + offset)])
        Zflat = Z[:, li, lj]
        return torch.cat([x, Zflat], dim=1)

    def forward(self, batch):
        x = self.bot_l(batch['dense'])
        z = self.interact(x, self.embed(batch))
        return self.top_l(z).view(-1)


@register('dcn')
class DCNv2(CTRBase):
    def __init__(self, field_names, field_dims, num_dense, embed_dim, num_cross, low_rank, mlp):
        super().__init__(field_names, field_dims, num_dense, embed_dim)
        dim = (self.num_fields + 1) * embed_dim + num_dense
        self.u = nn.ParameterList([nn.Parameter(torch.empty(dim, low_rank)) for _ in range(num_cross)])
        self.v = nn.ParameterList([nn.Parameter(torch.empty(low_rank, dim)) for _ in range(num_cross)])
        self.b = nn.ParameterList([nn.Parameter(torch.zeros(dim)) for _ in range(num_cross)])
        for p in [*self.u, *self.v]:
            nn.init.xavier_normal_(p)
        self.mlp = MultiLayerPerceptron(dim, mlp, output_layer=False)
        self.head = nn.Linear(dim + self.mlp.out_dim, 1)

    def forward(self, batch):
        x0 = torch.cat([self.embed(batch).flatten(1), batch['dense']], dim=-1)
        x = x0
        for u, v, b in zip(self.u, self.v, self.b):
            x = x0 * (x @ u @ v + b) + x
        out = torch.cat([x, self.mlp(x0)], dim=-1)
        return self.head(out)[:, 0]


class EarlyStopper(object):
    def __init__(self, num_trials, save_path):
        self.num_trials, self.trial_counter, self.best_accuracy = num_trials, 0, 0
        self.save_path = save_path

    def is_continuable(self, model, accuracy):
        if accuracy > self.best_accuracy:
            self.best_accuracy = accuracy
            self.trial_counter = 0
            torch.save(model.state_dict(), self.save_path)
            return True
        self.trial_counter += 1
        return self.trial_counter < self.num_trials


def train(model, optimizer, data_loader, criterion, cfg):
    model.train()
    losses = []
    for i, batch in enumerate(data_loader):
        if i >= cfg['max_steps']:
            break
        y = model(batch)
        loss = criterion(y, batch['label']) + cfg['l2_emb'] * model.l2()
        model.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test(model, data_loader):
    model.eval()
    targets, predicts = list(), list()
    with torch.no_grad():
        for batch in data_loader:
            predicts.extend(torch.sigmoid(model(batch)).tolist())
            targets.extend(batch['label'].tolist())
    return roc_auc_score(targets, predicts), log_loss(targets, predicts)


@torch.no_grad()
def recommend(model, row, num_items, k=5):
    """score each item for one row of the log and return the best k"""
    model.eval()
    batch = {key: torch.as_tensor(row[key]).unsqueeze(0).repeat(num_items, 1) for key in ('sparse', 'dense', 'history')}
    batch['sparse'][:, model.item_idx] = torch.arange(num_items)
    scores = model(batch)
    seen = torch.from_numpy(row['history'])
    scores[seen[seen > 0]] = -float('inf')
    val, idx = torch.topk(scores, k)
    return idx.tolist(), val


def main(config):
    tcfg = config['train']
    torch.manual_seed(tcfg['seed'])
    ds = ClickLog(**config['data'], seed=tcfg['seed'])
    n_train, n_valid = int(len(ds) * 0.7), int(len(ds) * 0.15)
    train_set, valid_set, test_set = random_split(ds, (n_train, n_valid, len(ds) - n_train - n_valid))
    make = lambda d, **kw: DataLoader(d, batch_size=tcfg['batch_size'], **kw)
    train_loader, valid_loader, test_loader = make(train_set, shuffle=True, drop_last=True), make(valid_set), make(test_set)
    cards = config['data']['cardinalities']
    for mcfg in config['models']:
        kwargs = {k: v for k, v in mcfg.items() if k != 'name'}
        model = MODELS[mcfg['name']](ds.fields, list(cards.values()), len(config['data']['dense']), **kwargs)
        optimizer = torch.optim.Adagrad(model.parameters(), lr=tcfg['lr'])
        with tempfile.TemporaryDirectory() as d:
            stopper = EarlyStopper(2, os.path.join(d, mcfg['name'] + '.pt'))
            for epoch in range(2):
                losses = train(model, optimizer, train_loader, nn.BCEWithLogitsLoss(), tcfg)
                auc, ll = test(model, valid_loader)
                print(f"{mcfg['name']} epoch {epoch} loss {np.mean(losses):.4f} valid auc {auc:.4f} ll {ll:.4f}")
                if not stopper.is_continuable(model, auc):
                    break
            model.load_state_dict(torch.load(stopper.save_path))
        auc, ll = test(model, test_loader)
        items, scores = recommend(model, ds[5], cards['item'])
        print(f'  test auc {auc:.4f} params {sum(p.numel() for p in model.parameters())} top items {items}')


if __name__ == '__main__':
    main(CONFIG)
