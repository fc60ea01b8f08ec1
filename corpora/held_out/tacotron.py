from dataclasses import dataclass, field, asdict
from typing import List
import math
import os
import random
import tempfile

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import Dataset, DataLoader

_pad, _eos = '_', '~'
symbols = [_pad, _eos] + list('abcdefghijklmnopqrstuvwxyz !?.,')
_symbol_to_id = {s: i for i, s in enumerate(symbols)}


@dataclass
class HParams:
    n_mel_channels: int = 40
    n_frames_per_step: int = 2
    n_symbols: int = len(symbols)
    symbols_embedding_dim: int = 48
    encoder_kernel_size: int = 5
    encoder_n_convolutions: int = 2
    prenet_dims: List[int] = field(default_factory=lambda: [32, 24])
    attention_rnn_dim: int = 72
    decoder_rnn_dim: int = 80
    max_decoder_steps: int = 14
    gate_threshold: float = 0.7
    attention_dim: int = 36
    attention_location_n_filters: int = 8
    attention_location_kernel_size: int = 15
    postnet_embedding_dim: int = 44
    postnet_n_convolutions: int = 3
    batch_size: int = 5
    learning_rate: float = 1e-3
    grad_clip_thresh: float = 1.0
    iters: int = 3


def text_to_sequence(text):
    return [_symbol_to_id[c] for c in text.lower() if c in _symbol_to_id] + [_symbol_to_id[_eos]]


def get_mask_from_lengths(lengths):
    max_len = torch.max(lengths).item()
    return torch.arange(0, max_len, device=lengths.device) < lengths.unsqueeze(1)


class TextMelDataset(Dataset):
    WORDS = 'the quick brown fox jumps over a lazy dog while rain falls on spain ok'.split()

    def __init__(self, hp, n=15):
        self.hp = hp
        rng = random.Random(1234)
        self.texts = [' '.join(rng.choice(self.WORDS) for _ in range(rng.randint(2, 5))) + '.' for _ in range(n)]

    def get_mel(self, ids):
        # a fake "spectrogram": each character lights up a bump for 1-3 frames
        n_mel = self.hp.n_mel_channels
        freqs = np.arange(n_mel)
        frames = []
        for i in ids:
            bump = np.exp(-0.5 * ((freqs - (i * 7) % n_mel) / 2.5) ** 2)
            frames += [bump] * (1 + i % 2)
        mel = np.stack(frames, axis=1)
        return torch.FloatTensor(np.log(np.clip(mel, 1e-5, None)) / 6.0)

    def __getitem__(self, index):
        seq = text_to_sequence(self.texts[index])
        return torch.IntTensor(seq), self.get_mel(seq)

    def __len__(self):
        return len(self.texts)


class TextMelCollate:
    def __init__(self, n_frames_per_step):
        self.n_frames_per_step = n_frames_per_step

    def __call__(self, batch):
        input_lengths, ids_sorted = torch.sort(torch.LongTensor([len(x[0]) for x in batch]), dim=0, descending=True)
        max_input_len = input_lengths[0]
        text_padded = torch.zeros(len(batch), max_input_len, dtype=torch.long)
        num_mels = batch[0][1].size(0)
        max_target_len = max([x[1].size(1) for x in batch])
        max_target_len += -max_target_len % self.n_frames_per_step
        mel_padded = torch.zeros(len(batch), num_mels, max_target_len)
        gate_padded = torch.zeros(len(batch), max_target_len)
        output_lengths = torch.LongTensor(len(batch))
        for i in range(len(ids_sorted)):
            text, mel = batch[ids_sorted[i]]
            text_padded[i, :text.size(0)] = text
            mel_padded[i, :, :mel.size(1)] = mel
            gate_padded[i, mel.size(1) - 1:] = 1
            output_lengths[i] = mel.size(1)
        return text_padded, input_lengths, mel_padded, gate_padded, output_lengths


class LinearNorm(nn.Module):
    def __init__(self, in_dim, out_dim, bias=True, w_init_gain='linear'):
        super().__init__()
        self.linear_layer = nn.Linear(in_dim, out_dim, bias=bias)
        nn.init.xavier_uniform_(self.linear_layer.weight, gain=nn.init.calculate_gain(w_init_gain))

    def forward(self, x):
        return self.linear_layer(x)


class ConvNorm(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size=1, stride=1, padding=None, dilation=1, bias=True):
        super(ConvNorm, self).__init__()
        if padding is None:
            padding = int(dilation * (kernel_size - 1) / 2)
        self.conv = nn.Conv1d(in_channels, out_channels, kernel_size=kernel_size, stride=stride,
                              padding=padding, dilation=dilation, bias=bias)

    def forward(self, signal):
        return self.conv(signal)


class LocationSensitiveAttention(nn.Module):
    def __init__(self, hp):
        super().__init__()
        self.query_layer = LinearNorm(hp.attention_rnn_dim, hp.attention_dim, bias=False, w_init_gain='tanh')
        self.memory_layer = LinearNorm(hp.symbols_embedding_dim, hp.attention_dim, bias=False, w_init_gain='tanh')
        self.v = LinearNorm(hp.attention_dim, 1, bias=False)
        self.location_conv = ConvNorm(2, hp.attention_location_n_filters, hp.attention_location_kernel_size, bias=False)
        self.location_dense = LinearNorm(hp.attention_location_n_filters, hp.attention_dim, bias=False)

    def forward(self, query, memory, processed_memory, weights_cat, mask):
        q = self.query_layer(query.unsqueeze(1))
        loc = self.location_dense(self.location_conv(weights_cat).transpose(1, 2))
        energies = self.v(torch.tanh(q + loc + processed_memory)).squeeze(-1)
        if mask is not None:
            energies.data.masked_fill_(mask, -float('inf'))
        weights = F.softmax(energies, dim=1)
        context = torch.bmm(weights.unsqueeze(1), memory).squeeze(1)
        return context, weights


class Prenet(nn.Module):
    def __init__(self, in_dim, sizes):
        super().__init__()
        in_sizes = [in_dim] + sizes[:-1]
        self.layers = nn.ModuleList([LinearNorm(i, o, bias=False) for (i, o) in zip(in_sizes, sizes)])

    def forward(self, x):
        for linear in self.layers:
            x = F.dropout(F.relu(linear(x)), p=0.5, training=True)
        return x


class Postnet(nn.Module):
    def __init__(self, hp):
        super().__init__()
        dims = [hp.n_mel_channels] + [hp.postnet_embedding_dim] * (hp.postnet_n_convolutions - 1) + [hp.n_mel_channels]
        self.convolutions = nn.ModuleList()
        for a, b in zip(dims[:-1], dims[1:]):
            self.convolutions.append(nn.Sequential(ConvNorm(a, b, kernel_size=5), nn.BatchNorm1d(b)))

    def forward(self, x):
        for i in range(len(self.convolutions) - 1):
            x = F.dropout(torch.tanh(self.convolutions[i](x)), 0.5, self.training)
        return F.dropout(self.convolutions[-1](x), 0.5, self.training)


class Encoder(nn.Module):
    def __init__(self, hp):
        super().__init__()
        d, k = hp.symbols_embedding_dim, hp.encoder_kernel_size
        self.convolutions = nn.ModuleList([nn.Sequential(ConvNorm(d, d, k), nn.BatchNorm1d(d))
                                           for _ in range(hp.encoder_n_convolutions)])
        self.lstm = nn.LSTM(d, d // 2, 1, batch_first=True, bidirectional=True)

    def forward(self, x, input_lengths=None):
        for conv in self.convolutions:
            x = F.dropout(F.relu(conv(x)), 0.5, self.training)
        x = x.transpose(1, 2)
        if input_lengths is None:
            return self.lstm(x)[0]
        x = nn.utils.rnn.pack_padded_sequence(x, input_lengths.cpu().numpy(), batch_first=True)
        outputs, _ = self.lstm(x)
        outputs, _ = nn.utils.rnn.pad_packed_sequence(outputs, batch_first=True)
        return outputs


class Decoder(nn.Module):
    def __init__(self, hp):
        super().__init__()
        self.hp = hp
        self.n_mel, self.r = hp.n_mel_channels, hp.n_frames_per_step
        enc = hp.symbols_embedding_dim
        self.prenet = Prenet(self.n_mel * self.r, hp.prenet_dims)
        self.attention_rnn = nn.LSTMCell(hp.prenet_dims[-1] + enc, hp.attention_rnn_dim)
        self.attention_layer = LocationSensitiveAttention(hp)
        self.decoder_rnn = nn.LSTMCell(hp.attention_rnn_dim + enc, hp.decoder_rnn_dim)
        self.linear_projection = LinearNorm(hp.decoder_rnn_dim + enc, self.n_mel * self.r)
        self.gate_layer = LinearNorm(hp.decoder_rnn_dim + enc, 1, w_init_gain='sigmoid')

    def initialize_decoder_states(self, memory, mask):
        B, T = memory.size(0), memory.size(1)
        self.attention_hidden, self.attention_cell = memory.new_zeros(2, B, self.hp.attention_rnn_dim)
        self.decoder_hidden, self.decoder_cell = memory.new_zeros(2, B, self.hp.decoder_rnn_dim)
        self.attention_weights = memory.new_zeros(B, T)
        self.attention_weights_cum = memory.new_zeros(B, T)
        self.attention_context = memory.new_zeros(B, memory.size(2))
        self.memory, self.mask = memory, mask
        self.processed_memory = self.attention_layer.memory_layer(memory)

    def parse_decoder_inputs(self, x):
        x = x.transpose(1, 2)
        x = x.contiguous().view(x.size(0), int(x.size(1) / self.r), -1)
        return x.transpose(0, 1)

    def parse_decoder_outputs(self, mel_outputs, gate_outputs, alignments):
        alignments = torch.stack(alignments).transpose(0, 1)
        gate_outputs = torch.stack(gate_outputs).transpose(0, 1).contiguous()
        mel_outputs = torch.stack(mel_outputs).transpose(0, 1).contiguous()
        mel_outputs = mel_outputs.view(mel_outputs.size(0), -1, self.n_mel).transpose(1, 2)
        return mel_outputs, gate_outputs, alignments

    def decode(self, x):
        self.attention_hidden, self.attention_cell = self.attention_rnn(
            torch.cat((x, self.attention_context), -1), (self.attention_hidden, self.attention_cell))
        self.attention_hidden = F.dropout(self.attention_hidden, 0.1, self.training)
        w = torch.cat((self.attention_weights.unsqueeze(1), self.attention_weights_cum.unsqueeze(1)), dim=1)
        self.attention_context, self.attention_weights = self.attention_layer(
            self.attention_hidden, self.memory, self.processed_memory, w, self.mask)
        self.attention_weights_cum = self.attention_weights_cum + self.attention_weights
        self.decoder_hidden, self.decoder_cell = self.decoder_rnn(
            torch.cat((self.attention_hidden, self.attention_context), -1), (self.decoder_hidden, self.decoder_cell))
        hc = torch.cat((self.decoder_hidden, self.attention_context), dim=1)
        return self.linear_projection(hc), self.gate_layer(hc), self.attention_weights

    def forward(self, memory, decoder_inputs, memory_lengths):
        go = memory.new_zeros(1, memory.size(0), self.n_mel * self.r)
        decoder_inputs = self.prenet(torch.cat((go, self.parse_decoder_inputs(decoder_inputs)), dim=0))
        self.initialize_decoder_states(memory, mask=~get_mask_from_lengths(memory_lengths))
        mels, gates, aligns = [], [], []
        while len(mels) < decoder_inputs.size(0) - 1:
            mel, gate, align = self.decode(decoder_inputs[len(mels)])
            mels, gates, aligns = mels + [mel], gates + [gate.squeeze(1)], aligns + [align]
        return self.parse_decoder_outputs(mels, gates, aligns)

    def inference(self, memory):
        x = memory.new_zeros(memory.size(0), self.n_mel * self.r)
        self.initialize_decoder_states(memory, mask=None)
        mels, gates, aligns = [], [], []
        while True:
            mel, gate, align = self.decode(self.prenet(x))
            mels, gates, aligns = mels + [mel], gates + [gate.squeeze(1)], aligns + [align]
            if torch.sigmoid(gate).item() > self.hp.gate_threshold or len(mels) == self.hp.max_decoder_steps:
                break
            x = mel
        return self.parse_decoder_outputs(mels, gates, aligns)


class Tacotron2(nn.Module):
    def __init__(self, hp):
        super().__init__()
        self.hp = hp
        self.embedding = nn.Embedding(hp.n_symbols, hp.symbols_embedding_dim)
        val = math.sqrt(6.0 / (hp.n_symbols + hp.symbols_embedding_dim))
        self.embedding.weight.data.uniform_(-val, val)
        self.encoder, self.decoder, self.postnet = Encoder(hp), Decoder(hp), Postnet(hp)

    def forward(self, text, text_lengths, mels, output_lengths):
        enc = self.encoder(self.embedding(text).transpose(1, 2), text_lengths)
        mel, gate, align = self.decoder(enc, mels, memory_lengths=text_lengths)
        post = mel + self.postnet(mel)
        mask = ~get_mask_from_lengths(output_lengths)
        mask = F.pad(mask, (0, mel.size(2) - mask.size(1)), value=True)
        mask3 = mask.unsqueeze(1).expand(-1, self.hp.n_mel_channels, -1)
        mel = mel.masked_fill(mask3, 0.0)
        post = post.masked_fill(mask3, 0.0)
        gate = gate.masked_fill(mask[:, ::self.hp.n_frames_per_step], 1e3)
        return mel, post, gate, align

    @torch.no_grad()
    def inference(self, text):
        enc = self.encoder(self.embedding(text).transpose(1, 2))
        mel, gate, align = self.decoder.inference(enc)
        return mel + self.postnet(mel), align


if __name__ == '__main__':
    torch.manual_seed(1234)
    hp = HParams()
    ds = TextMelDataset(hp)
    loader = DataLoader(ds, batch_size=hp.batch_size, shuffle=True, collate_fn=TextMelCollate(hp.n_frames_per_step), drop_last=True)
    model = Tacotron2(hp)
    optimizer = torch.optim.Adam(model.parameters(), lr=hp.learning_rate, weight_decay=1e-6)
    model.train()
    for it, (text, in_len, mel_t, gate_t, out_len) in enumerate(loader):
        model.zero_grad()
        mel, post, gate, align = model(text, in_len, mel_t, out_len)
        gate_target = gate_t[:, ::hp.n_frames_per_step].reshape(-1, 1)
        mel_loss = F.mse_loss(mel, mel_t) + F.mse_loss(post, mel_t)
        gate_loss = F.binary_cross_entropy_with_logits(gate.view(-1, 1), gate_target)
        loss = mel_loss + gate_loss
        loss.backward()
        gn = torch.nn.utils.clip_grad_norm_(model.parameters(), hp.grad_clip_thresh)
        optimizer.step()
        print('{} loss {:.5f} (gate {:.4f}) grad {:.4f}'.format(it, loss.item(), gate_loss.item(), gn.item()))
        if it + 1 >= hp.iters:
            break
    with tempfile.TemporaryDirectory() as tmp:
        fn = os.path.join(tmp, f'checkpoint_{it}')
        torch.save({'iteration': it, 'state_dict': model.state_dict(), 'hparams': asdict(hp)}, fn)
        ck = torch.load(fn)
        model = Tacotron2(HParams(**ck['hparams']))
        model.load_state_dict(ck['state_dict'])
    model.eval()
    seq = torch.LongTensor(text_to_sequence('A lazy dog!'))[None, :]
    mel, align = model.inference(seq)
    print('synth', tuple(mel.shape), 'attended', align[0].argmax(dim=-1).tolist())
