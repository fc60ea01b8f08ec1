import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from features import LogMel

REGISTRY = {}


def register(name):
    def wrap(cls):
        REGISTRY[name] = cls
        return cls
    return wrap


@register("m5")
class M5(nn.Module):
    """Raw waveforms, as in the torchaudio tutorial."""

    def __init__(self, n_input=1, n_output=35, stride=4, n_channel=8):
        super().__init__()
        self.conv1 = nn.Conv1d(n_input, n_channel, kernel_size=20, stride=stride)
        self.bn1 = nn.BatchNorm1d(n_channel)
        self.pool1 = nn.MaxPool1d(4)
        self.conv2 = nn.Conv1d(n_channel, n_channel, kernel_size=3)
        self.bn2 = nn.BatchNorm1d(n_channel)
        self.pool2 = nn.MaxPool1d(4)
        self.conv3 = nn.Conv1d(n_channel, 2 * n_channel, kernel_size=3)
        self.bn3 = nn.BatchNorm1d(2 * n_channel)
        self.pool3 = nn.MaxPool1d(4)
        self.fc1 = nn.Linear(2 * n_channel, n_output)

    def forward(self, x, lengths=None):
        x = x.unsqueeze(1)
        x = self.pool1(F.relu(self.bn1(self.conv1(x))))
        x = self.pool2(F.relu(self.bn2(self.conv2(x))))
        x = self.pool3(F.relu(self.bn3(self.conv3(x))))
        x = F.avg_pool1d(x, x.shape[-1])
        x = x.permute(0, 2, 1)
        x = self.fc1(x)
        return F.log_softmax(x, dim=2).squeeze(1)


@register("crnn")
class ConvGRU(nn.Module):
    def __init__(self, n_output, n_mels=20, channels=(6, 12), hidden=16, layers=2):
        super().__init__()
        self.frontend = LogMel(n_mels=n_mels)
        convs, prev = [], 1
        for c in channels:
            convs.append(nn.Sequential(nn.Conv2d(prev, c, 3, stride=(2, 1), padding=1), nn.BatchNorm2d(c), nn.ReLU()))
            prev = c
        self.convs = nn.Sequential(*convs)
        self.gru = nn.GRU(prev * (n_mels // 2 ** len(channels)), hidden, layers, batch_first=True, bidirectional=True)
        self.attn = nn.Linear(2 * hidden, 1)
        self.out = nn.Linear(2 * hidden, n_output)

    def forward(self, wav, lengths):
        mel = self.frontend(wav)
        x = self.convs(mel[:, None])
        b, c, f, t = x.shape
        x = x.view(b, c * f, t).transpose(1, 2)
        frames = lengths // self.frontend.hop + 1
        packed = pack_padded_sequence(x, frames, batch_first=True, enforce_sorted=False)
        y, _ = self.gru(packed)
        y, _ = pad_packed_sequence(y, batch_first=True, total_length=t)
        w = self.attn(y).softmax(dim=1)
        return F.log_softmax(self.out((w * y).sum(1)), dim=-1)


def build(name, **kwargs):
    try:
        return REGISTRY[name](**kwargs)
    except KeyError:
        raise SystemExit(f"no such model: {name} (one of {', '.join(REGISTRY)})")
