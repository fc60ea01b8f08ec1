import numpy as np
import torch
import torch.nn as nn
from sklearn.preprocessing import MinMaxScaler
from torch.utils.data import TensorDataset, DataLoader

# -----------------------------
# Hyper parameters
# -----------------------------
LOOKBACK = 24
HORIZON = 6
HIDDEN = 48
LAYERS = 2
BATCH = 32
EPOCHS = 2
STEPS_PER_EPOCH = 3
LEARNING_RATE = 0.005
TEACHER_FORCING = 0.5

np.random.seed(7)
torch.manual_seed(7)
device = "cuda:0" if torch.cuda.is_available() else "cpu"


# -----------------------------
# Make the data: hourly load of a made-up power station
# -----------------------------
def generate_load(n_hours):
    t = np.arange(n_hours)
    daily = 10 * np.sin(2 * np.pi * t / 24 - 1.2)
    weekly = 4 * np.sin(2 * np.pi * t / (24 * 7))
    trend = 0.005 * t
    temperature = 15 + 8 * np.sin(2 * np.pi * t / 24) + np.random.randn(n_hours)
    noise = np.random.randn(n_hours) * 0.8
    load = 50 + daily + weekly + trend + 0.3 * temperature + noise
    return load, temperature


def calendar_features(n_hours):
    hour = np.arange(n_hours) % 24
    weekday = (np.arange(n_hours) // 24) % 7
    feats = [np.sin(2 * np.pi * hour / 24), np.cos(2 * np.pi * hour / 24)]
    feats.append((weekday >= 5).astype(float))
    return np.stack(feats, axis=1)


def sliding_windows(data, lookback, horizon):
    """
    data: 2-D array, first column is the target
    returns X of shape (N, lookback, features), y of shape (N, horizon)
    """
    x, y = [], []
    for i in range(len(data) - lookback - horizon + 1):
        x.append(data[i:i + lookback])
        y.append(data[i + lookback:i + lookback + horizon, 0])
    return np.array(x), np.array(y)


# -----------------------------
# Model
# -----------------------------
class Encoder(nn.Module):
    def __init__(self, n_features, hidden_size, num_layers):
        super(Encoder, self).__init__()
        self.gru = nn.GRU(n_features, hidden_size, num_layers, batch_first=True, dropout=0.1)

    def forward(self, x):
        out, h = self.gru(x)
        return out, h


class Attention(nn.Module):
    def __init__(self, hidden_size):
        super(Attention, self).__init__()
        self.W = nn.Linear(hidden_size * 2, hidden_size)
        self.v = nn.Parameter(torch.rand(hidden_size))

    def forward(self, hidden, enc_out):
        seq_len = enc_out.shape[1]
        hidden = hidden.unsqueeze(1).repeat(1, seq_len, 1)
        energy = torch.tanh(self.W(torch.cat((hidden, enc_out), dim=2)))
        energy = energy.permute(0, 2, 1)
        v = self.v.repeat(enc_out.size(0), 1).unsqueeze(1)
        e = torch.bmm(v, energy).squeeze(1)
        return torch.softmax(e, dim=1)


class Decoder(nn.Module):
    def __init__(self, hidden_size, num_layers):
        super(Decoder, self).__init__()
        self.attention = Attention(hidden_size)
        self.gru = nn.GRU(1 + hidden_size, hidden_size, num_layers, batch_first=True)
        self.out = nn.Linear(hidden_size * 2, 1)

    def forward(self, y_prev, hidden, enc_out):
        a = self.attention(hidden[-1], enc_out)
        context = torch.bmm(a.unsqueeze(1), enc_out)
        inp = torch.cat((y_prev.unsqueeze(1), context), dim=2)
        output, hidden = self.gru(inp, hidden)
        pred = self.out(torch.cat((output.squeeze(1), context.squeeze(1)), dim=1))
        return pred, hidden, a


class Seq2SeqForecaster(nn.Module):
    def __init__(self, n_features, hidden_size, num_layers, horizon):
        super(Seq2SeqForecaster, self).__init__()
        self.horizon = horizon
        self.encoder = Encoder(n_features, hidden_size, num_layers)
        self.decoder = Decoder(hidden_size, num_layers)

    def forward(self, x, y=None, teacher_forcing=0.0):
        enc_out, hidden = self.encoder(x)
        y_prev = x[:, -1, 0:1]
        outputs = torch.zeros(x.size(0), self.horizon).to(x.device)
        weights = []
        for t in range(self.horizon):
            pred, hidden, a = self.decoder(y_prev, hidden, enc_out)
            outputs[:, t] = pred.squeeze(1)
            weights.append(a)
            if y is not None and np.random.rand() < teacher_forcing:
                y_prev = y[:, t].unsqueeze(1)
            else:
                y_prev = pred
        return outputs, torch.stack(weights, dim=1)


def quantile_loss(pred, target, q=0.5):
    err = target - pred
    return torch.max(q * err, (q - 1) * err).mean()


def mape(y_true, y_pred):
    return np.mean(np.abs((y_true - y_pred) / y_true)) * 100


def smape(y_true, y_pred):
    return 100 * np.mean(2 * np.abs(y_pred - y_true) / (np.abs(y_true) + np.abs(y_pred)))


if __name__ == "__main__":

    n = 24 * 28
    load, temp = generate_load(n)
    raw = np.concatenate([load[:, None], temp[:, None], calendar_features(n)], axis=1)
    print("raw data", raw.shape)

    n_train = int(len(raw) * 0.8)
    scaler = MinMaxScaler(feature_range=(-1, 1))
    train_data = scaler.fit_transform(raw[:n_train])
    test_data = scaler.transform(raw[n_train:])

    X_train, y_train = sliding_windows(train_data, LOOKBACK, HORIZON)
    X_test, y_test = sliding_windows(test_data, LOOKBACK, HORIZON)
    print("train", X_train.shape, y_train.shape, "test", X_test.shape, y_test.shape)

    X_train = torch.from_numpy(X_train).float()
    y_train = torch.from_numpy(y_train).float()
    X_test = torch.from_numpy(X_test).float()

    train_loader = DataLoader(TensorDataset(X_train, y_train), batch_size=BATCH, shuffle=True)

    model = Seq2SeqForecaster(raw.shape[1], HIDDEN, LAYERS, HORIZON).to(device)
    print(sum(p.numel() for p in model.parameters()), "parameters")
    optimizer = torch.optim.RMSprop(model.parameters(), lr=LEARNING_RATE)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1, factor=0.5)
    mse = nn.MSELoss()

    best_val = np.inf
    patience_left = 3
    for epoch in range(EPOCHS):
        model.train()
        running = 0
        for i, (xb, yb) in enumerate(train_loader):
            if i == STEPS_PER_EPOCH:
                break
            xb = xb.to(device)
            yb = yb.to(device)
            optimizer.zero_grad()
            y_hat, _ = model(xb, yb, TEACHER_FORCING)
            loss = mse(y_hat, yb) + 0.1 * quantile_loss(y_hat, yb, 0.7)
            loss.backward()
            optimizer.step()
            running += loss.item()

        # validation
        model.eval()
        with torch.no_grad():
            y_hat, attn = model(X_test.to(device))
        y_hat = y_hat.cpu().numpy()
        val_loss = ((y_hat - y_test) ** 2).mean()
        scheduler.step(val_loss)
        print("Epoch %d, train loss %.4f, val loss %.4f" % (epoch, running / STEPS_PER_EPOCH, val_loss))

        if val_loss < best_val:
            best_val = val_loss
            patience_left = 3
        else:
            patience_left -= 1
            if patience_left == 0:
                print("early stop")
                break

    # back to megawatts: only the first column is the target
    lo, hi = scaler.data_min_[0], scaler.data_max_[0]
    unscale = lambda a: (a + 1) / 2 * (hi - lo) + lo
    true_mw, pred_mw = unscale(y_test), unscale(y_hat)
    for h in range(HORIZON):
        print("hour +%d  MAPE %.2f%%  sMAPE %.2f%%" % (h + 1, mape(true_mw[:, h], pred_mw[:, h]),
                                                    smape(true_mw[:, h], pred_mw[:, h])))

    mean_attention = attn.mean(dim=0).cpu().numpy()
    print("most looked at lag:", LOOKBACK - mean_attention.argmax(axis=1))
    naive = np.repeat(X_test[:, -1, 0].numpy()[:, None], HORIZON, axis=1)
    print("naive MSE %.4f" % ((naive - y_test) ** 2).mean())
