from __future__ import print_function, division
import argparse
import sys
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.autograd import Variable
import torch.backends.cudnn as cudnn

# Training settings
parser = argparse.ArgumentParser(description='PyTorch CNN sentence classifier, 2017')
parser.add_argument('--batch-size', type=int, default=10, metavar='N')
parser.add_argument('--test-batch-size', type=int, default=7, metavar='N')
parser.add_argument('--epochs', type=int, default=2, metavar='N')
parser.add_argument('--no-cuda', action='store_true', default=False)
parser.add_argument('--seed', type=int, default=1, metavar='S')
parser.add_argument('--kernel-sizes', type=str, default='3,4,5')
parser.add_argument('--kernel-num', type=int, default=9)
parser.add_argument('--static', action='store_true', default=False)
args = parser.parse_args()
args.cuda = not args.no_cuda and torch.cuda.is_available()
args.kernel_sizes = [int(k) for k in args.kernel_sizes.split(',')]

torch.manual_seed(args.seed)
if args.cuda:
    torch.cuda.manual_seed(args.seed)
    cudnn.benchmark = True

VOCAB, CLASSES, LEN = 50, 4, 15
data = torch.LongTensor(45, LEN).random_(0, VOCAB)
labels = data.sum(1) % CLASSES


class CNN_Text(nn.Module):

    def __init__(self, args):
        super(CNN_Text, self).__init__()
        self.args = args
        D = 16
        Ci = 1
        Co = args.kernel_num
        Ks = args.kernel_sizes
        self.embed = nn.Embedding(VOCAB, D)
        self.convs1 = nn.ModuleList([nn.Conv2d(Ci, Co, (K, D)) for K in Ks])
        self.dropout = nn.Dropout(0.5)
        self.fc1 = nn.Linear(len(Ks) * Co, CLASSES)

    def conv_and_pool(self, x, conv):
        x = F.relu(conv(x)).squeeze(3)  # (N, Co, W)
        x = F.max_pool1d(x, x.size(2)).squeeze(2)
        return x

    def forward(self, x):
        x = self.embed(x)  # (N, W, D)
        if self.args.static:
            x = Variable(x.data)
        x = x.unsqueeze(1)  # (N, Ci, W, D)
        x = [F.relu(conv(x)).squeeze(3) for conv in self.convs1]  # [(N, Co, W), ...]*len(Ks)
        x = [F.max_pool1d(i, i.size(2)).squeeze(2) for i in x]  # [(N, Co), ...]*len(Ks)
        x = torch.cat(x, 1)
        x = self.dropout(x)  # (N, len(Ks)*Co)
        logit = self.fc1(x)  # (N, C)
        return logit


class RNNModel(nn.Module):
    """the second baseline, by hand"""
    def __init__(self, ninp, nhid, nlayers):
        super(RNNModel, self).__init__()
        self.encoder = nn.Embedding(VOCAB, ninp)
        self.rnn = getattr(nn, 'LSTM')(ninp, nhid, nlayers, dropout=0.2)
        self.decoder = nn.Linear(nhid, CLASSES)
        self.nhid, self.nlayers = nhid, nlayers
        self.init_weights()

    def init_weights(self):
        initrange = 0.1
        self.encoder.weight.data.uniform_(-initrange, initrange)
        self.decoder.bias.data.fill_(0)
        self.decoder.weight.data.uniform_(-initrange, initrange)

    def init_hidden(self, bsz):
        weight = next(self.parameters()).data
        return (Variable(weight.new(self.nlayers, bsz, self.nhid).zero_()),
                Variable(weight.new(self.nlayers, bsz, self.nhid).zero_()))

    def forward(self, x):
        emb = self.encoder(x.t())
        output, (h, c) = self.rnn(emb, self.init_hidden(x.size(0)))
        return self.decoder(output[-1])


def batches(start, stop, size):
    for i in range(start, stop, size):
        yield data[i:i + size], labels[i:i + size]


def train(model, optimizer, epoch):
    model.train()
    for batch_idx, (feature, target) in enumerate(batches(0, 30, args.batch_size)):
        if args.cuda:
            feature, target = feature.cuda(), target.cuda()
        feature, target = Variable(feature), Variable(target)
        optimizer.zero_grad()
        output = F.log_softmax(model(feature), dim=1)
        loss = F.nll_loss(output, target)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()
        print('Train Epoch: {} [{}]\tLoss: {:.6f}'.format(epoch, batch_idx * len(feature), loss.data.item()))


def test(model):
    model.eval()
    test_loss = 0
    correct = 0
    for feature, target in batches(30, 45, args.test_batch_size):
        if args.cuda:
            feature, target = feature.cuda(), target.cuda()
        with torch.no_grad():
            feature, target = Variable(feature), Variable(target)
        output = F.log_softmax(model(feature), dim=1)
        test_loss += F.nll_loss(output, target, reduction='sum').data.item()  # sum up batch loss
        pred = output.data.max(1, keepdim=True)[1]  # get the index of the max log-probability
        correct += pred.eq(target.data.view_as(pred)).long().cpu().sum()
    print('\nTest set: Average loss: {:.4f}, Accuracy: {}/{}\n'.format(test_loss / 15, correct, 15))


def main():
    for model in (CNN_Text(args), RNNModel(11, 13, 2)):
        if args.cuda:
            model.cuda()
        optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
        for epoch in range(1, args.epochs + 1):
            train(model, optimizer, epoch)
        test(model)


if __name__ == '__main__':
    main()
