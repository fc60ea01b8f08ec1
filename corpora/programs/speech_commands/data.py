import math
import random

import torch
from torch.nn.utils.rnn import pad_sequence

LABELS = ["yes", "no", "up", "down", "stop"]


class Tones(torch.utils.data.Dataset):
    def __init__(self, size, sample_rate=1600, min_len=1000, max_len=1600, seed=0):
        self.sample_rate = sample_rate
        rng = random.Random(seed)
        self.items = [(rng.randint(min_len, max_len), rng.choice(LABELS)) for _ in range(size)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, n):
        length, label = self.items[n]
        t = torch.arange(length) / self.sample_rate
        freq = 80 + 60 * LABELS.index(label)
        waveform = torch.sin(2 * math.pi * freq * t) + 0.1 * torch.randn(length)
        return waveform, self.sample_rate, label, f"speaker{n % 3}", n


def label_to_index(word):
    return torch.tensor(LABELS.index(word))


def index_to_label(index):
    return LABELS[index]


def collate_fn(batch):
    # A data tuple has the form:
    # waveform, sample_rate, label, speaker_id, utterance_number
    tensors, lengths, targets = [], [], []
    for waveform, _, label, *_ in batch:
        tensors += [waveform]
        lengths.append(waveform.shape[-1])
        targets += [label_to_index(label)]
    return pad_sequence(tensors, batch_first=True, padding_value=0.), torch.tensor(lengths), torch.stack(targets)
