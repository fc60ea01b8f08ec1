# Author: a tutorial reader
# Sequence tagging with an LSTM + a character-level LSTM (the "augmenting" exercise)

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

torch.manual_seed(1)


def prepare_sequence(seq, to_ix):
    idxs = [to_ix[w] for w in seq]
    return torch.tensor(idxs, dtype=torch.long)


training_data = [
    # Tags are: DET - determiner; NN - noun; V - verb
    ("The dog ate the apple".split(), ["DET", "NN", "V", "DET", "NN"]),
    ("Everybody read that book".split(), ["NN", "V", "DET", "NN"]),
    ("The cat sleeps".split(), ["DET", "NN", "V"]),
]
word_to_ix = {}
char_to_ix = {}
for sent, tags in training_data:
    for word in sent:
        if word not in word_to_ix:  # word has not been assigned an index yet
            word_to_ix[word] = len(word_to_ix)
        for c in word:
            char_to_ix.setdefault(c, len(char_to_ix))
tag_to_ix = {"DET": 0, "NN": 1, "V": 2}

EMBEDDING_DIM = 10
CHAR_EMBEDDING_DIM = 6
CHAR_HIDDEN_DIM = 5
HIDDEN_DIM = 14


class LSTMTagger(nn.Module):

    def __init__(self, embedding_dim, hidden_dim, vocab_size, tagset_size, char_vocab_size, char_dim, char_hidden):
        super(LSTMTagger, self).__init__()
        self.hidden_dim = hidden_dim
        self.char_hidden_dim = char_hidden

        self.word_embeddings = nn.Embedding(vocab_size, embedding_dim)
        self.char_embeddings = nn.Embedding(char_vocab_size, char_dim)

        self.char_lstm = nn.LSTM(char_dim, char_hidden)
        # The LSTM takes word embeddings (and the characters' summary) as inputs
        self.lstm = nn.LSTM(embedding_dim + char_hidden, hidden_dim // 2, num_layers=2, bidirectional=True)

        # The linear layer that maps from hidden state space to tag space
        self.hidden2tag = nn.Linear(hidden_dim, tagset_size)
        self.hidden = self.init_hidden()

    def init_hidden(self):
        # (num_layers * num_directions, minibatch_size, hidden_dim)
        return (torch.zeros(4, 1, self.hidden_dim // 2),
                torch.zeros(4, 1, self.hidden_dim // 2))

    def char_summary(self, word):
        embeds = self.char_embeddings(word)
        _, (h, _) = self.char_lstm(embeds.view(len(word), 1, -1))
        return h.view(1, self.char_hidden_dim)

    def forward(self, sentence, words):
        embeds = self.word_embeddings(sentence)
        chars = torch.cat([self.char_summary(w) for w in words], dim=0)
        embeds = torch.cat((embeds, chars), 1)
        lstm_out, self.hidden = self.lstm(embeds.view(len(sentence), 1, -1), self.hidden)
        tag_space = self.hidden2tag(lstm_out.view(len(sentence), -1))
        tag_scores = F.log_softmax(tag_space, dim=1)
        return tag_scores


def main():
    model = LSTMTagger(EMBEDDING_DIM, HIDDEN_DIM, len(word_to_ix), len(tag_to_ix),
                       len(char_to_ix), CHAR_EMBEDDING_DIM, CHAR_HIDDEN_DIM)
    loss_function = nn.NLLLoss()
    optimizer = optim.SGD(model.parameters(), lr=0.1)

    # See what the scores are before training
    with torch.no_grad():
        words = training_data[0][0]
        tag_scores = model(prepare_sequence(words, word_to_ix), [prepare_sequence(w, char_to_ix) for w in words])
        print(tag_scores)

    for epoch in range(6):  # again, normally you would NOT do 300 epochs, it is toy data
        for sentence, tags in training_data:
            # Step 1. Remember that Pytorch accumulates gradients.
            model.zero_grad()
            model.hidden = model.init_hidden()

            # Step 2. Get our inputs ready for the network
            sentence_in = prepare_sequence(sentence, word_to_ix)
            words_in = [prepare_sequence(word, char_to_ix) for word in sentence]
            targets = prepare_sequence(tags, tag_to_ix)

            # Step 3. Run our forward pass.
            tag_scores = model(sentence_in, words_in)

            # Step 4. Compute the loss, gradients, and update the parameters
            loss = loss_function(tag_scores, targets)
            loss.backward()
            optimizer.step()

    with torch.no_grad():
        model.hidden = model.init_hidden()
        words = training_data[1][0]
        tag_scores = model(prepare_sequence(words, word_to_ix), [prepare_sequence(w, char_to_ix) for w in words])
        best = torch.max(tag_scores, 1)[1]
        inverse = {v: k for k, v in tag_to_ix.items()}
        for w, t in zip(words, best):
            print(w, '->', inverse[t.item()])


if __name__ == '__main__':
    main()
