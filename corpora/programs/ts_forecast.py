# Long-term forecasting, channel-independent patches, after the PatchTST/Informer repositories.
import argparse
import torch
import numpy as np
import torch.nn as nn
from torch import optim
from torch.utils.data import Dataset, DataLoader


class StandardScaler():
    def __init__(self):
        self.mean = 0.
        self.std = 1.

    def fit(self, data):
        self.mean = data.mean(0)
        self.std = data.std(0)

    def transform(self, data):
        return (data - self.mean) / self.std

    def inverse_transform(self, data):
        return (data * self.std) + self.mean


class Dataset_Synthetic(Dataset):
    def __init__(self, flag='train', size=None, n_vars=3, length=160):
        self.seq_len, self.label_len, self.pred_len = size
        assert flag in ['train', 'test', 'val']
        type_map = {'train': 0, 'val': 1, 'test': 2}
        self.set_type = type_map[flag]
        t = np.arange(length)
        waves = [np.sin(2 * np.pi * t / p) for p in (12, 24, 7)]
        raw = np.stack(waves[:n_vars], axis=1) + 0.1 * np.random.RandomState(0).randn(length, n_vars)
        stamp = np.stack([t % 24, (t // 24) % 7], axis=1)
        num_train, num_test = int(length * 0.7), int(length * 0.2)
        num_vali = length - num_train - num_test
        border1s = [0, num_train - self.seq_len, length - num_test - self.seq_len]
        border2s = [num_train, num_train + num_vali, length]
        border1, border2 = border1s[self.set_type], border2s[self.set_type]
        self.scaler = StandardScaler()
        self.scaler.fit(raw[border1s[0]:border2s[0]])
        data = self.scaler.transform(raw)
        self.data_x = data[border1:border2]
        self.data_y = data[border1:border2]
        self.data_stamp = stamp[border1:border2]

    def __getitem__(self, index):
        s_begin = index
        s_end = s_begin + self.seq_len
        r_begin = s_end - self.label_len
        r_end = r_begin + self.label_len + self.pred_len
        seq_x = self.data_x[s_begin:s_end]
        seq_y = self.data_y[r_begin:r_end]
        seq_x_mark = self.data_stamp[s_begin:s_end]
        seq_y_mark = self.data_stamp[r_begin:r_end]
        return seq_x, seq_y, seq_x_mark, seq_y_mark

    def __len__(self):
        return len(self.data_x) - self.seq_len - self.pred_len + 1


class RevIN(nn.Module):
    def __init__(self, num_features, eps=1e-5):
        super(RevIN, self).__init__()
        self.eps = eps
        self.affine_weight = nn.Parameter(torch.ones(num_features))
        self.affine_bias = nn.Parameter(torch.zeros(num_features))

    def forward(self, x, mode):
        if mode == 'norm':
            dim2reduce = tuple(range(1, x.ndim - 1))
            self.mean = torch.mean(x, dim=dim2reduce, keepdim=True).detach()
            self.stdev = torch.sqrt(torch.var(x, dim=dim2reduce, keepdim=True, unbiased=False) + self.eps).detach()
            return (x - self.mean) / self.stdev * self.affine_weight + self.affine_bias
        elif mode == 'denorm':
            x = (x - self.affine_bias) / (self.affine_weight + self.eps * self.eps)
            return x * self.stdev + self.mean
        else:
            raise NotImplementedError


class PatchTST(nn.Module):
    def __init__(self, configs):
        super().__init__()
        self.patch_len, self.stride = configs.patch_len, configs.stride
        self.pred_len = configs.pred_len
        patch_num = int((configs.seq_len - configs.patch_len) / configs.stride + 1) + 1
        self.padding_patch_layer = nn.ReplicationPad1d((0, configs.stride))
        self.revin = RevIN(configs.enc_in)
        self.W_P = nn.Linear(configs.patch_len, configs.d_model)
        self.W_pos = nn.Parameter(torch.empty(patch_num, configs.d_model).uniform_(-0.02, 0.02))
        self.hour = nn.Embedding(24, configs.d_model)
        self.day = nn.Embedding(7, configs.d_model)
        encoder_layer = nn.TransformerEncoderLayer(configs.d_model, configs.n_heads, configs.d_ff,
                                                   dropout=configs.dropout, batch_first=True, activation='gelu')
        self.encoder = nn.TransformerEncoder(encoder_layer, num_layers=configs.e_layers)
        self.head = nn.Sequential(nn.Flatten(start_dim=-2), nn.Linear(configs.d_model * patch_num, configs.pred_len))

    def forward(self, x_enc, x_mark_enc):
        z = self.revin(x_enc, 'norm')
        z = z.permute(0, 2, 1)
        z = self.padding_patch_layer(z)
        z = z.unfold(dimension=-1, size=self.patch_len, step=self.stride)
        B, M, N, P = z.shape
        u = self.W_P(z).reshape(B * M, N, -1)
        last = x_mark_enc[:, -1]
        calendar = self.hour(last[:, 0]) + self.day(last[:, 1])
        u = u + self.W_pos + calendar.repeat_interleave(M, dim=0).unsqueeze(1)
        u = self.encoder(u)
        u = u.view(B, M, N, -1)
        out = self.head(u).permute(0, 2, 1)
        return self.revin(out, 'denorm')


class DLinear(nn.Module):
    def __init__(self, configs):
        super().__init__()
        self.kernel = configs.moving_avg
        self.avg = nn.AvgPool1d(kernel_size=self.kernel, stride=1, padding=0)
        self.Linear_Seasonal = nn.Linear(configs.seq_len, configs.pred_len)
        self.Linear_Trend = nn.Linear(configs.seq_len, configs.pred_len)

    def decompose(self, x):
        front = x[:, 0:1, :].repeat(1, (self.kernel - 1) // 2, 1)
        end = x[:, -1:, :].repeat(1, (self.kernel - 1) // 2, 1)
        padded = torch.cat([front, x, end], dim=1)
        trend = self.avg(padded.permute(0, 2, 1)).permute(0, 2, 1)
        return x - trend, trend

    def forward(self, x, x_mark):
        seasonal, trend = self.decompose(x)
        y = self.Linear_Seasonal(seasonal.transpose(1, 2)) + self.Linear_Trend(trend.transpose(1, 2))
        return y.transpose(1, 2)


class Exp_Main(object):
    model_dict = {'PatchTST': PatchTST, 'DLinear': DLinear}

    def __init__(self, args):
        self.args = args
        self.model = self._build_model()

    def _build_model(self):
        return self.model_dict[self.args.model](self.args).float()

    def _get_data(self, flag):
        args = self.args
        data_set = Dataset_Synthetic(flag=flag, size=[args.seq_len, args.label_len, args.pred_len], n_vars=args.enc_in)
        shuffle_flag = False if flag == 'test' else True
        data_loader = DataLoader(data_set, batch_size=args.batch_size, shuffle=shuffle_flag, drop_last=True)
        return data_set, data_loader

    def _process(self, batch_x, batch_y, batch_x_mark):
        outputs = self.model(batch_x.float(), batch_x_mark.long())
        outputs = outputs[:, -self.args.pred_len:, :]
        return outputs, batch_y[:, -self.args.pred_len:, :].float()

    def train(self):
        _, train_loader = self._get_data('train')
        model_optim = optim.Adam(self.model.parameters(), lr=self.args.learning_rate)
        criterion = nn.MSELoss()
        for epoch in range(self.args.train_epochs):
            train_loss = []
            self.model.train()
            for i, (batch_x, batch_y, batch_x_mark, batch_y_mark) in enumerate(train_loader):
                if i >= 3:
                    break
                model_optim.zero_grad()
                outputs, target = self._process(batch_x, batch_y, batch_x_mark)
                loss = criterion(outputs, target)
                train_loss.append(loss.item())
                loss.backward()
                model_optim.step()
            print("Epoch: {0} | Train Loss: {1:.7f}".format(epoch + 1, np.average(train_loss)))
        return self.model

    def test(self):
        test_data, test_loader = self._get_data('test')
        preds, trues = [], []
        self.model.eval()
        with torch.no_grad():
            for batch_x, batch_y, batch_x_mark, _ in test_loader:
                outputs, target = self._process(batch_x, batch_y, batch_x_mark)
                preds.append(outputs.detach().cpu().numpy())
                trues.append(target.detach().cpu().numpy())
        preds, trues = np.array(preds), np.array(trues)
        preds = preds.reshape(-1, preds.shape[-2], preds.shape[-1])
        trues = trues.reshape(-1, trues.shape[-2], trues.shape[-1])
        print('test shape:', preds.shape, trues.shape)
        mae, mse = np.mean(np.abs(preds - trues)), np.mean((preds - trues) ** 2)
        back = test_data.scaler.inverse_transform(preds.reshape(-1, self.args.enc_in)).reshape(preds.shape)
        print('mse:{}, mae:{}'.format(mse, mae), back.shape)


def main():
    torch.manual_seed(2021)
    parser = argparse.ArgumentParser(description='Time Series Forecasting')
    parser.add_argument('--model', type=str, default='PatchTST')
    parser.add_argument('--seq_len', type=int, default=24)
    parser.add_argument('--label_len', type=int, default=6)
    parser.add_argument('--pred_len', type=int, default=8)
    parser.add_argument('--enc_in', type=int, default=3)
    parser.add_argument('--d_model', type=int, default=16)
    parser.add_argument('--n_heads', type=int, default=4)
    parser.add_argument('--e_layers', type=int, default=2)
    parser.add_argument('--d_ff', type=int, default=20)
    parser.add_argument('--moving_avg', type=int, default=5)
    parser.add_argument('--patch_len', type=int, default=6)
    parser.add_argument('--stride', type=int, default=3)
    parser.add_argument('--dropout', type=float, default=0.1)
    parser.add_argument('--train_epochs', type=int, default=1)
    parser.add_argument('--batch_size', type=int, default=4)
    parser.add_argument('--learning_rate', type=float, default=1e-3)
    args = parser.parse_args()
    for model in ['PatchTST', 'DLinear']:
        args.model = model
        exp = Exp_Main(args)
        exp.train()
        exp.test()


if __name__ == "__main__":
    main()
