"""CRNN + CTC for "captcha" strings (synthetic stripes instead of glyphs)."""
import string

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

ALPHABET = string.digits + "abcdef"
BLANK = 0


class Codec:
    def __init__(self, alphabet):
        self.char2label = {c: i + 1 for i, c in enumerate(alphabet)}
        self.label2char = {l: c for c, l in self.char2label.items()}

    def encode(self, text):
        return [self.char2label[c] for c in text]

    def decode(self, labels):
        return "".join(self.label2char[l] for l in labels if l != BLANK)

    @property
    def num_class(self):
        return len(self.char2label) + 1


class StripeText(Dataset):
    H, W = 32, 100

    def __init__(self, codec, n, seed=0):
        rng = np.random.default_rng(seed)
        self.codec = codec
        self.texts = ["".join(rng.choice(list(ALPHABET), size=rng.integers(3, 7))) for _ in range(n)]
        self.rng = rng

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, i):
        text = self.texts[i]
        img = self.rng.normal(0, 0.1, size=(self.H, self.W)).astype("float32")
        for pos, label in enumerate(self.codec.encode(text)):
            img[label:label + 4, 10 + pos * 14:20 + pos * 14] += 1.0
        img = torch.from_numpy(img[None])
        target = torch.LongTensor(self.codec.encode(text))
        return img, target, torch.LongTensor([len(target)])


def synth_collate_fn(batch):
    images, targets, target_lengths = zip(*batch)
    images = torch.stack(images, 0)
    targets = torch.cat(targets, 0)
    target_lengths = torch.cat(target_lengths, 0)
    return images, targets, target_lengths


class CRNN(nn.Module):

    def __init__(self, img_channel, img_height, img_width, num_class,
                 map_to_seq_hidden=24, rnn_hidden=20, leaky_relu=False):
        super(CRNN, self).__init__()

        self.cnn, (output_channel, output_height, output_width) = \
            self._cnn_backbone(img_channel, img_height, img_width, leaky_relu)

        self.map_to_seq = nn.Linear(output_channel * output_height, map_to_seq_hidden)

        self.rnn1 = nn.LSTM(map_to_seq_hidden, rnn_hidden, bidirectional=True)
        self.rnn2 = nn.LSTM(2 * rnn_hidden, rnn_hidden, bidirectional=True)

        self.dense = nn.Linear(2 * rnn_hidden, num_class)

    def _cnn_backbone(self, img_channel, img_height, img_width, leaky_relu):
        assert img_height % 16 == 0
        assert img_width % 4 == 0

        channels = [img_channel, 8, 16, 24, 24, 32, 32, 32]
        kernel_sizes = [3, 3, 3, 3, 3, 3, 2]
        strides = [1, 1, 1, 1, 1, 1, 1]
        paddings = [1, 1, 1, 1, 1, 1, 0]

        cnn = nn.Sequential()

        def conv_relu(i, batch_norm=False):
            # shape of input: (batch, input_channel, height, width)
            input_channel = channels[i]
            output_channel = channels[i+1]

            cnn.add_module(
                f'conv{i}',
                nn.Conv2d(input_channel, output_channel, kernel_sizes[i], strides[i], paddings[i])
            )

            if batch_norm:
                cnn.add_module(f'batchnorm{i}', nn.BatchNorm2d(output_channel))

            relu = nn.LeakyReLU(0.2, inplace=True) if leaky_relu else nn.ReLU(inplace=True)
            cnn.add_module(f'relu{i}', relu)

        # size of image: (channel, height, width) = (img_channel, img_height, img_width)
        conv_relu(0)
        cnn.add_module('pooling0', nn.MaxPool2d(kernel_size=2, stride=2))

        conv_relu(1)
        cnn.add_module('pooling1', nn.MaxPool2d(kernel_size=2, stride=2))

        conv_relu(2)
        conv_relu(3)
        cnn.add_module(
            'pooling2',
            nn.MaxPool2d(kernel_size=(2, 1))
        )

        conv_relu(4, batch_norm=True)
        conv_relu(5, batch_norm=True)
        cnn.add_module(
            'pooling3',
            nn.MaxPool2d(kernel_size=(2, 1))
        )

        conv_relu(6)

        output_channel, output_height, output_width = \
            channels[-1], img_height // 16 - 1, img_width // 4 - 1
        return cnn, (output_channel, output_height, output_width)

    def forward(self, images):
        # shape of images: (batch, channel, height, width)
        conv = self.cnn(images)
        batch, channel, height, width = conv.size()

        conv = conv.view(batch, channel * height, width)
        conv = conv.permute(2, 0, 1)  # (width, batch, feature)
        seq = self.map_to_seq(conv)

        recurrent, _ = self.rnn1(seq)
        recurrent, _ = self.rnn2(recurrent)

        output = self.dense(recurrent)
        return output  # shape: (seq_len, batch, num_class)


def ctc_decode(log_probs, blank=BLANK):
    emission_log_probs = log_probs.permute(1, 0, 2).detach().cpu().numpy()
    decoded_list = []
    for emission in emission_log_probs:
        labels = np.argmax(emission, axis=-1)
        out, prev = [], None
        for l in labels:
            if l != prev and l != blank:
                out.append(int(l))
            prev = l
        decoded_list.append(out)
    return decoded_list


def train_batch(crnn, data, optimizer, criterion, device):
    crnn.train()
    images, targets, target_lengths = [d.to(device) for d in data]

    logits = crnn(images)
    log_probs = torch.nn.functional.log_softmax(logits, dim=2)

    batch_size = images.size(0)
    input_lengths = torch.LongTensor([logits.size(0)] * batch_size)
    target_lengths = torch.flatten(target_lengths)

    loss = criterion(log_probs, targets, input_lengths, target_lengths)

    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(crnn.parameters(), 5)  # gradient clipping with 5
    optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(0)
    codec = Codec(ALPHABET)
    train_loader = DataLoader(StripeText(codec, 12), batch_size=5, shuffle=True, num_workers=0,
                              collate_fn=synth_collate_fn)
    valid_loader = DataLoader(StripeText(codec, 4, seed=1), batch_size=2, collate_fn=synth_collate_fn)
    crnn = CRNN(1, StripeText.H, StripeText.W, codec.num_class)
    optimizer = torch.optim.RMSprop(crnn.parameters(), lr=5e-4)
    criterion = nn.CTCLoss(reduction='sum', zero_infinity=True)

    tot_train_loss, tot_train_count = 0., 0
    for train_data in train_loader:
        loss = train_batch(crnn, train_data, optimizer, criterion, 'cpu')
        tot_train_loss += loss
        tot_train_count += train_data[0].size(0)
    print('train_loss: ', tot_train_loss / tot_train_count)

    crnn.eval()
    tot_correct = tot_count = 0
    with torch.no_grad():
        for images, targets, target_lengths in valid_loader:
            log_probs = F.log_softmax(crnn(images), dim=2)
            preds = ctc_decode(log_probs)
            reals = targets.cpu().numpy().tolist()
            counter = 0
            for pred, target_length in zip(preds, target_lengths.cpu().numpy().flatten().tolist()):
                real = reals[counter:counter + target_length]
                counter += target_length
                tot_correct += pred == real
                tot_count += 1
                print(codec.decode(pred)[:10], codec.decode(real))
    print('acc', tot_correct / tot_count)


if __name__ == '__main__':
    main()
