'''
Recommender homework: compare
   1. matrix factorisation with biases (explicit ratings)
   2. GMF / MLP / NeuMF (implicit feedback, He et al. 2017)
on a small made-up MovieLens.
'''
import heapq
import math
import random

import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import Dataset, DataLoader

config = {
    'num_users': 60,
    'num_items': 90,
    'mf': {'n_factors': 12, 'lr': 0.02, 'weight_decay': 1e-5},
    'neumf': {
        'latent_dim_mf': 8,
        'latent_dim_mlp': 16,
        'layers': [32, 16, 8],   # layers[0] is the concat of user and item
        'lr': 1e-3,
        'num_negative': 4,
    },
    'batch_size': 128,
    'steps': 3,
    'top_k': 10,
}


def make_ratings(num_users, num_items, seed=0):
    rng = np.random.RandomState(seed)
    taste = rng.randn(num_users, 3)
    genre = rng.randn(num_items, 3)
    popularity = rng.zipf(1.6, num_items).clip(max=20) / 20.0
    affinity = taste @ genre.T + popularity
    rows = []
    for u in range(num_users):
        seen = rng.choice(num_items, size=rng.randint(10, 25), replace=False)
        for order, i in enumerate(seen):
            score = 3.2 + 0.6 * affinity[u, i] + 0.4 * rng.randn()
            rows.append((u, i, float(np.clip(round(score), 1, 5)), order))
    return pd.DataFrame(rows, columns=['userId', 'itemId', 'rating', 'timestamp'])


def leave_one_out(ratings):
    """the latest interaction of each user is kept for the test"""
    ratings = ratings.copy()
    ratings['rank_latest'] = ratings.groupby('userId')['timestamp'].rank(method='first', ascending=False)
    test = ratings[ratings['rank_latest'] == 1]
    train = ratings[ratings['rank_latest'] > 1]
    return train.drop(columns='rank_latest'), test.drop(columns='rank_latest')


class RatingDataset(Dataset):
    def __init__(self, user_tensor, item_tensor, target_tensor):
        self.user_tensor = user_tensor
        self.item_tensor = item_tensor
        self.target_tensor = target_tensor

    def __getitem__(self, index):
        return self.user_tensor[index], self.item_tensor[index], self.target_tensor[index]

    def __len__(self):
        return self.user_tensor.size(0)


def explicit_loader(df, batch_size):
    ds = RatingDataset(torch.LongTensor(df['userId'].to_numpy(copy=True)),
                       torch.LongTensor(df['itemId'].to_numpy(copy=True)),
                       torch.FloatTensor(df['rating'].to_numpy(copy=True)))
    return DataLoader(ds, batch_size=batch_size, shuffle=True)


def implicit_loader(df, item_pool, num_negative, batch_size):
    users, items, labels = [], [], []
    interacted = df.groupby('userId')['itemId'].apply(set)
    for row in df.itertuples():
        users.append(int(row.userId))
        items.append(int(row.itemId))
        labels.append(1.0)
        candidates = sorted(item_pool - interacted[row.userId])
        for neg in random.sample(candidates, num_negative):
            users.append(int(row.userId))
            items.append(neg)
            labels.append(0.0)
    ds = RatingDataset(torch.LongTensor(users), torch.LongTensor(items), torch.FloatTensor(labels))
    return DataLoader(ds, batch_size=batch_size, shuffle=True)


# ------------------------------------------------------------------ models

class BiasedMF(nn.Module):
    def __init__(self, num_users, num_items, n_factors, global_mean):
        super().__init__()
        self.P = nn.Embedding(num_users, n_factors)
        self.Q = nn.Embedding(num_items, n_factors)
        self.user_bias = nn.Embedding(num_users, 1)
        self.item_bias = nn.Embedding(num_items, 1)
        self.mean = global_mean
        for e in (self.P, self.Q):
            e.weight.data.normal_(0, 0.1)
        for e in (self.user_bias, self.item_bias):
            e.weight.data.zero_()

    def forward(self, user_id, item_id):
        P_u = self.P(user_id)
        Q_i = self.Q(item_id)
        b_u = self.user_bias(user_id).squeeze(-1)
        b_i = self.item_bias(item_id).squeeze(-1)
        return (P_u * Q_i).sum(axis=1) + b_u + b_i + self.mean


class GMF(nn.Module):
    def __init__(self, num_users, num_items, latent_dim):
        super().__init__()
        self.embedding_user = nn.Embedding(num_users, latent_dim)
        self.embedding_item = nn.Embedding(num_items, latent_dim)
        self.affine_output = nn.Linear(latent_dim, 1)

    def forward(self, users, items):
        element_product = torch.mul(self.embedding_user(users), self.embedding_item(items))
        return torch.sigmoid(self.affine_output(element_product))


class MLP(nn.Module):
    def __init__(self, num_users, num_items, latent_dim, layers):
        super().__init__()
        self.embedding_user = nn.Embedding(num_users, latent_dim)
        self.embedding_item = nn.Embedding(num_items, latent_dim)
        self.fc_layers = nn.ModuleList()
        for idx, (in_size, out_size) in enumerate(zip(layers[:-1], layers[1:])):
            self.fc_layers.append(nn.Linear(in_size, out_size))
        self.affine_output = nn.Linear(layers[-1], 1)

    def forward(self, users, items):
        vector = torch.cat([self.embedding_user(users), self.embedding_item(items)], dim=-1)
        for idx, _ in enumerate(range(len(self.fc_layers))):
            vector = self.fc_layers[idx](vector)
            vector = nn.ReLU()(vector)
        return torch.sigmoid(self.affine_output(vector))


class NeuMF(nn.Module):
    def __init__(self, num_users, num_items, cfg):
        super().__init__()
        layers = cfg['layers']
        self.user_mlp = nn.Embedding(num_users, cfg['latent_dim_mlp'])
        self.item_mlp = nn.Embedding(num_items, cfg['latent_dim_mlp'])
        self.user_mf = nn.Embedding(num_users, cfg['latent_dim_mf'])
        self.item_mf = nn.Embedding(num_items, cfg['latent_dim_mf'])
        self.fc_layers = nn.ModuleList(nn.Linear(i, o) for i, o in zip(layers, layers[1:]))
        self.affine_output = nn.Linear(layers[-1] + cfg['latent_dim_mf'], 1)

    def forward(self, users, items):
        mlp_vector = torch.cat([self.user_mlp(users), self.item_mlp(items)], dim=-1)
        mf_vector = torch.mul(self.user_mf(users), self.item_mf(items))
        for layer in self.fc_layers:
            mlp_vector = torch.relu(layer(mlp_vector))
        vector = torch.cat([mlp_vector, mf_vector], dim=-1)
        return torch.sigmoid(self.affine_output(vector))

    def load_pretrain_weights(self, gmf, mlp):
        self.user_mlp.weight.data = mlp.embedding_user.weight.data
        self.item_mlp.weight.data = mlp.embedding_item.weight.data
        for mine, theirs in zip(self.fc_layers, mlp.fc_layers):
            mine.weight.data = theirs.weight.data
            mine.bias.data = theirs.bias.data
        self.user_mf.weight.data = gmf.embedding_user.weight.data
        self.item_mf.weight.data = gmf.embedding_item.weight.data
        self.affine_output.weight.data = 0.5 * torch.cat(
            [mlp.affine_output.weight.data, gmf.affine_output.weight.data], dim=-1)
        self.affine_output.bias.data = 0.5 * (mlp.affine_output.bias.data + gmf.affine_output.bias.data)


# ------------------------------------------------------------------ training

def fit(model, loader, optimizer, crit, steps, device, name):
    model.train()
    losses = []
    for step, (user, item, target) in enumerate(loader):
        if step == steps:
            break
        user, item, target = user.to(device), item.to(device), target.to(device)
        optimizer.zero_grad()
        pred = model(user, item)
        loss = crit(pred.view(-1), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print('[%s] loss: %s' % (name, ' '.join('%.4f' % l for l in losses)))
    return model


def hit_ratio_and_ndcg(model, test, train, num_items, top_k, device):
    model.eval()
    hits, ndcgs = [], []
    seen = train.groupby('userId')['itemId'].apply(set)
    for row in test.itertuples():
        negatives = [i for i in range(num_items) if i not in seen[row.userId] and i != row.itemId][:50]
        candidates = negatives + [row.itemId]
        users = torch.full((len(candidates),), row.userId, dtype=torch.long).to(device)
        with torch.no_grad():
            scores = model(users, torch.LongTensor(candidates).to(device)).view(-1)
        map_item_score = dict(zip(candidates, scores.tolist()))
        ranklist = heapq.nlargest(top_k, map_item_score, key=map_item_score.get)
        hits.append(row.itemId in ranklist)
        if row.itemId in ranklist:
            ndcgs.append(math.log(2) / math.log(ranklist.index(row.itemId) + 2))
        else:
            ndcgs.append(0)
    return np.mean(hits), np.mean(ndcgs)


def main():
    random.seed(1)
    torch.manual_seed(1)
    device = torch.device('cuda') if torch.cuda.is_available() else torch.device('cpu')
    n_u, n_i = config['num_users'], config['num_items']
    ratings = make_ratings(n_u, n_i)
    train, test = leave_one_out(ratings)
    print('ratings', len(train), len(test), 'density %.3f' % (len(ratings) / (n_u * n_i)))

    # explicit
    cfg = config['mf']
    mf = BiasedMF(n_u, n_i, cfg['n_factors'], train['rating'].mean()).to(device)
    opt = optim.Adam(mf.parameters(), lr=cfg['lr'], weight_decay=cfg['weight_decay'])
    fit(mf, explicit_loader(train, config['batch_size']), opt, nn.MSELoss(), config['steps'], device, 'MF')
    with torch.no_grad():
        pred = mf(torch.LongTensor(test['userId'].to_numpy(copy=True)).to(device),
                  torch.LongTensor(test['itemId'].to_numpy(copy=True)).to(device)).clamp(1, 5)
    rmse = np.sqrt(np.mean((pred.cpu().numpy() - test['rating'].to_numpy()) ** 2))
    print('MF RMSE %.4f' % rmse)

    # implicit
    cfg = config['neumf']
    gmf = GMF(n_u, n_i, cfg['latent_dim_mf']).to(device)
    mlp = MLP(n_u, n_i, cfg['latent_dim_mlp'], cfg['layers']).to(device)
    neumf = NeuMF(n_u, n_i, cfg).to(device)
    loader = implicit_loader(train, set(range(n_i)), cfg['num_negative'], config['batch_size'])
    for name, model in [('GMF', gmf), ('MLP', mlp), ('NeuMF', neumf)]:
        if name == 'NeuMF':
            model.load_pretrain_weights(gmf, mlp)
        opt = optim.Adam(model.parameters(), lr=cfg['lr'])
        fit(model, loader, opt, nn.BCELoss(), config['steps'], device, name)
        hr, ndcg = hit_ratio_and_ndcg(model, test, train, n_i, config['top_k'], device)
        print('%s HR@%d = %.4f, NDCG = %.4f' % (name, config['top_k'], hr, ndcg))


if __name__ == '__main__':
    main()
