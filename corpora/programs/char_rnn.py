import argparse, string, random, sys
import torch
import torch.nn as nn
from torch.autograd import Variable

all_characters = string.printable
n_characters = len(all_characters)


class CharRNN(nn.Module):
    def __init__(self, input_size, hidden_size, output_size, model="gru", n_layers=1):
        super(CharRNN, self).__init__()
        self.model = model.lower()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.output_size = output_size
        self.n_layers = n_layers

        self.encoder = nn.Embedding(input_size, hidden_size)
        if self.model == "gru":
            self.rnn = nn.GRU(hidden_size, hidden_size, n_layers)
        elif self.model == "lstm":
            self.rnn = nn.LSTM(hidden_size, hidden_size, n_layers)
        self.decoder = nn.Linear(hidden_size, output_size)

    def forward(self, input, hidden):
        batch_size = input.size(0)
        encoded = self.encoder(input)
        output, hidden = self.rnn(encoded.view(1, batch_size, -1), hidden)
        output = self.decoder(output.view(batch_size, -1))
        return output, hidden

    def init_hidden(self, batch_size):
        if self.model == "lstm":
            return (Variable(torch.zeros(self.n_layers, batch_size, self.hidden_size)),
                    Variable(torch.zeros(self.n_layers, batch_size, self.hidden_size)))
        return Variable(torch.zeros(self.n_layers, batch_size, self.hidden_size))


class ScratchRNN(nn.Module):
    """x_t, h_{t-1} -> h_t, the tutorial's"""
    def __init__(self, input_size, hidden_size, output_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.i2h = nn.Linear(input_size + hidden_size, hidden_size)
        self.h2o = nn.Linear(hidden_size, output_size)
        self.softmax = nn.LogSoftmax(dim=1)

    def forward(self, input, hidden):
        combined = torch.cat((input, hidden), 1)
        hidden = torch.tanh(self.i2h(combined))
        output = self.h2o(hidden)
        output = self.softmax(output)
        return output, hidden

    def initHidden(self):
        return torch.zeros(1, self.hidden_size)


# Turning a string into a tensor
def char_tensor(s):
    tensor = torch.zeros(len(s)).long()
    for c in range(len(s)):
        try:
            tensor[c] = all_characters.index(s[c])
        except:
            continue
    return tensor


def line_to_tensor(line):
    tensor = torch.zeros(len(line), 1, n_characters)
    for li, letter in enumerate(line):
        tensor[li][0][all_characters.find(letter)] = 1
    return tensor


file = "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness. " * 3
file_len = len(file)


def random_training_set(chunk_len, batch_size):
    inp = torch.LongTensor(batch_size, chunk_len)
    target = torch.LongTensor(batch_size, chunk_len)
    for bi in range(batch_size):
        start_index = random.randint(0, file_len - chunk_len - 1)
        end_index = start_index + chunk_len + 1
        chunk = file[start_index:end_index]
        inp[bi] = char_tensor(chunk[:-1])
        target[bi] = char_tensor(chunk[1:])
    inp = Variable(inp)
    target = Variable(target)
    return inp, target


def train(decoder, decoder_optimizer, criterion, inp, target, chunk_len, batch_size):
    hidden = decoder.init_hidden(batch_size)
    decoder.zero_grad()
    loss = 0

    for c in range(chunk_len):
        output, hidden = decoder(inp[:, c], hidden)
        loss += criterion(output.view(batch_size, -1), target[:, c])

    loss.backward()
    decoder_optimizer.step()

    return loss.item() / chunk_len


def generate(decoder, prime_str='A', predict_len=10, temperature=0.8):
    hidden = decoder.init_hidden(1)
    prime_input = Variable(char_tensor(prime_str).unsqueeze(0))
    predicted = prime_str

    # Use priming string to "build up" hidden state
    for p in range(len(prime_str) - 1):
        _, hidden = decoder(prime_input[:, p], hidden)

    inp = prime_input[:, -1]

    for p in range(predict_len):
        output, hidden = decoder(inp, hidden)

        # Sample from the network as a multinomial distribution
        output_dist = output.data.view(-1).div(temperature).exp()
        top_i = torch.multinomial(output_dist, 1)[0]

        # Add predicted character to string and use as next input
        predicted_char = all_characters[top_i]
        predicted += predicted_char
        inp = Variable(char_tensor(predicted_char).unsqueeze(0))[0]

    return predicted


def main():
    argparser = argparse.ArgumentParser()
    argparser.add_argument('--n_epochs', type=int, default=2)
    argparser.add_argument('--hidden_size', type=int, default=18)
    argparser.add_argument('--n_layers', type=int, default=2)
    argparser.add_argument('--learning_rate', type=float, default=0.01)
    argparser.add_argument('--chunk_len', type=int, default=12)
    argparser.add_argument('--batch_size', type=int, default=5)
    args = argparser.parse_args()
    random.seed(0); torch.manual_seed(0)

    for kind in "gru", "lstm":
        decoder = CharRNN(n_characters, args.hidden_size, n_characters, model=kind, n_layers=args.n_layers)
        decoder_optimizer = torch.optim.Adam(decoder.parameters(), lr=args.learning_rate)
        criterion = nn.CrossEntropyLoss()
        loss_avg = 0
        for epoch in range(1, args.n_epochs + 1):
            loss = train(decoder, decoder_optimizer, criterion,
                         *random_training_set(args.chunk_len, args.batch_size), args.chunk_len, args.batch_size)
            loss_avg += loss
            sys.stdout.write('[%d %.4f]\n' % (epoch, loss))
        print(repr(generate(decoder, 'Wh', 8)))

    rnn = ScratchRNN(n_characters, 16, 3)
    line, category = line_to_tensor("Dickens"), torch.tensor([1])
    hidden = rnn.initHidden()
    for i in range(line.size()[0]):
        output, hidden = rnn(line[i], hidden)
    loss = nn.NLLLoss()(output, category)
    loss.backward()
    for p in rnn.parameters():
        p.data.add_(p.grad.data, alpha=-0.005)
    print(loss.item(), output.topk(1)[1][0].item())


if __name__ == '__main__':
    main()
