"""Translate human dates to ISO, GRU encoder-decoder with Bahdanau attention and teacher forcing."""
import random
import datetime
import string
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence, pack_padded_sequence, pad_packed_sequence

PAD, SOS, EOS, UNK = "<pad>", "<sos>", "<eos>", "<unk>"
SPECIALS = [PAD, SOS, EOS, UNK]
FORMATS = ["%d %B %Y", "%b %d, %Y", "%d.%m.%y", "%A, %d %b %Y"]


class Vocab:
    def __init__(self, chars):
        self.itos = SPECIALS + list(chars)
        self.stoi = {s: i for i, s in enumerate(self.itos)}

    def __len__(self):
        return len(self.itos)

    def encode(self, text):
        return [self.stoi[SOS]] + [self.stoi.get(c, self.stoi[UNK]) for c in text] + [self.stoi[EOS]]

    def decode(self, ids):
        out = []
        for i in ids:
            if self.itos[i] == EOS:
                break
            if self.itos[i] not in SPECIALS:
                out.append(self.itos[i])
        return "".join(out)


def make_pairs(n, rng):
    pairs = []
    for _ in range(n):
        date = datetime.date(1970, 1, 1) + datetime.timedelta(days=rng.randrange(20000))
        pairs.append((date.strftime(rng.choice(FORMATS)).lower(), date.isoformat()))
    return pairs


def batches(pairs, src_vocab, tgt_vocab, batch_size):
    random.shuffle(pairs)
    for i in range(0, len(pairs), batch_size):
        chunk = sorted(pairs[i:i + batch_size], key=lambda p: len(p[0]), reverse=True)
        src = [torch.tensor(src_vocab.encode(s)) for s, _ in chunk]
        tgt = [torch.tensor(tgt_vocab.encode(t)) for _, t in chunk]
        lengths = torch.tensor([len(s) for s in src])
        yield pad_sequence(src, batch_first=True), lengths, pad_sequence(tgt, batch_first=True)


class Encoder(nn.Module):
    def __init__(self, vocab_size, emb, hid, dec_hid, dropout):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, emb, padding_idx=0)
        self.rnn = nn.GRU(emb, hid, bidirectional=True, batch_first=True)
        self.fc = nn.Linear(hid * 2, dec_hid)
        self.dropout = nn.Dropout(dropout)

    def forward(self, src, lengths):
        embedded = self.dropout(self.embedding(src))
        packed = pack_padded_sequence(embedded, lengths, batch_first=True)
        outputs, hidden = self.rnn(packed)
        outputs, _ = pad_packed_sequence(outputs, batch_first=True)
        hidden = torch.tanh(self.fc(torch.cat((hidden[-2], hidden[-1]), dim=1)))
        return outputs, hidden


class Attention(nn.Module):
    def __init__(self, enc_hid, dec_hid):
        super().__init__()
        self.attn = nn.Linear(enc_hid * 2 + dec_hid, dec_hid)
        self.v = nn.Linear(dec_hid, 1, bias=False)

    def forward(self, hidden, encoder_outputs, mask):
        src_len = encoder_outputs.shape[1]
        hidden = hidden.unsqueeze(1).repeat(1, src_len, 1)
        energy = torch.tanh(self.attn(torch.cat((hidden, encoder_outputs), dim=2)))
        scores = self.v(energy).squeeze(2)
        return F.softmax(scores.masked_fill(~mask, -1e10), dim=1)


class Decoder(nn.Module):
    def __init__(self, vocab_size, emb, enc_hid, dec_hid, attention, dropout):
        super().__init__()
        self.output_dim = vocab_size
        self.attention = attention
        self.embedding = nn.Embedding(vocab_size, emb)
        self.rnn = nn.GRU(enc_hid * 2 + emb, dec_hid, batch_first=True)
        self.out = nn.Linear(enc_hid * 2 + dec_hid + emb, vocab_size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, token, hidden, encoder_outputs, mask):
        embedded = self.dropout(self.embedding(token.unsqueeze(1)))
        a = self.attention(hidden, encoder_outputs, mask)
        context = torch.bmm(a.unsqueeze(1), encoder_outputs)
        output, hidden = self.rnn(torch.cat((embedded, context), dim=2), hidden.unsqueeze(0))
        output, embedded, context = output.squeeze(1), embedded.squeeze(1), context.squeeze(1)
        prediction = self.out(torch.cat((output, context, embedded), dim=1))
        return prediction, hidden.squeeze(0), a


class Seq2Seq(nn.Module):
    def __init__(self, encoder, decoder, pad_idx, device):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder
        self.pad_idx = pad_idx
        self.device = device

    def create_mask(self, src):
        return src != self.pad_idx

    def forward(self, src, lengths, tgt, teacher_forcing_ratio=0.5):
        batch_size, tgt_len = tgt.shape
        outputs = torch.zeros(batch_size, tgt_len, self.decoder.output_dim).to(self.device)
        encoder_outputs, hidden = self.encoder(src, lengths)
        mask = self.create_mask(src)
        token = tgt[:, 0]
        for t in range(1, tgt_len):
            output, hidden, _ = self.decoder(token, hidden, encoder_outputs, mask)
            outputs[:, t] = output
            teacher_force = random.random() < teacher_forcing_ratio
            top1 = output.argmax(1)
            token = tgt[:, t] if teacher_force else top1
        return outputs


def translate(model, text, src_vocab, tgt_vocab, max_len=12):
    model.eval()
    with torch.no_grad():
        src = torch.LongTensor(src_vocab.encode(text)).unsqueeze(0)
        encoder_outputs, hidden = model.encoder(src, torch.LongTensor([src.shape[1]]))
        mask = model.create_mask(src)
        ids, attentions = [tgt_vocab.stoi[SOS]], torch.zeros(max_len, 1, src.shape[1])
        for i in range(max_len):
            token = torch.LongTensor([ids[-1]])
            output, hidden, a = model.decoder(token, hidden, encoder_outputs, mask)
            attentions[i] = a
            ids.append(output.argmax(1).item())
            if ids[-1] == tgt_vocab.stoi[EOS]:
                break
    return tgt_vocab.decode(ids), attentions[:len(ids) - 1].squeeze(1)


def count_parameters(model):
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


def main():
    rng = random.Random(5)
    random.seed(5)
    torch.manual_seed(5)
    device = torch.device('cpu')
    pairs = make_pairs(20, rng)
    src_vocab = Vocab(string.ascii_lowercase + string.digits + " .,")
    tgt_vocab = Vocab(string.digits + "-")
    ENC_EMB, DEC_EMB, ENC_HID, DEC_HID = 12, 10, 18, 22
    encoder = Encoder(len(src_vocab), ENC_EMB, ENC_HID, DEC_HID, 0.1)
    attention = Attention(ENC_HID, DEC_HID)
    decoder = Decoder(len(tgt_vocab), DEC_EMB, ENC_HID, DEC_HID, attention, 0.1)
    model = Seq2Seq(encoder, decoder, src_vocab.stoi[PAD], device).to(device)
    print(f'The model has {count_parameters(model):,} trainable parameters')
    optimizer = torch.optim.Adam(model.parameters())
    criterion = nn.CrossEntropyLoss(ignore_index=tgt_vocab.stoi[PAD])
    for epoch in range(1):
        model.train()
        epoch_loss = 0
        for src, lengths, tgt in batches(pairs, src_vocab, tgt_vocab, 5):
            optimizer.zero_grad()
            output = model(src, lengths, tgt)
            output = output[:, 1:].reshape(-1, output.shape[-1])
            loss = criterion(output, tgt[:, 1:].reshape(-1))
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1)
            optimizer.step()
            epoch_loss += loss.item()
        print(f'{epoch}: {epoch_loss:.3f}')
    text, attn = translate(model, pairs[0][0], src_vocab, tgt_vocab)
    print(pairs[0][0], '->', text, attn.shape)


if __name__ == '__main__':
    main()
