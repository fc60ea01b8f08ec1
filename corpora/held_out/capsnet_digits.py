# Capsule network with dynamic routing on the 8x8 digits of scikit-learn
# based on "Dynamic Routing Between Capsules" (Sabour, Frosst, Hinton)
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim import Adam
from sklearn import datasets
from sklearn.model_selection import train_test_split

USE_CUDA = False
torch.manual_seed(42)


class Digits:
    def __init__(self, batch_size):
        X, y = datasets.load_digits(return_X_y=True)
        X = (X / 16.0).reshape(-1, 1, 8, 8).astype('float32')
        Xtr, Xte, ytr, yte = train_test_split(X, y, test_size=100, stratify=y, random_state=0)
        train = torch.utils.data.TensorDataset(torch.tensor(Xtr), torch.tensor(ytr))
        test = torch.utils.data.TensorDataset(torch.tensor(Xte), torch.tensor(yte))
        self.train_loader = torch.utils.data.DataLoader(train, batch_size=batch_size, shuffle=True)
        self.test_loader = torch.utils.data.DataLoader(test, batch_size=batch_size, shuffle=False)


class ConvLayer(nn.Module):
    def __init__(self, in_channels=1, out_channels=32, kernel_size=3):
        super(ConvLayer, self).__init__()
        self.conv = nn.Conv2d(in_channels=in_channels,
                              out_channels=out_channels,
                              kernel_size=kernel_size,
                              stride=1
                              )

    def forward(self, x):
        return F.relu(self.conv(x))


class PrimaryCaps(nn.Module):
    def __init__(self, num_capsules=4, in_channels=32, out_channels=8, kernel_size=3):
        super(PrimaryCaps, self).__init__()

        self.capsules = nn.ModuleList([
            nn.Conv2d(in_channels=in_channels, out_channels=out_channels, kernel_size=kernel_size, stride=2, padding=0)
            for _ in range(num_capsules)])

    def forward(self, x):
        u = [capsule(x) for capsule in self.capsules]
        u = torch.stack(u, dim=1)
        u = u.view(x.size(0), 8 * 2 * 2, -1)
        return self.squash(u.transpose(1, 2).reshape(x.size(0), -1, 8))

    def squash(self, input_tensor):
        squared_norm = (input_tensor ** 2).sum(-1, keepdim=True)
        output_tensor = squared_norm * input_tensor / ((1. + squared_norm) * torch.sqrt(squared_norm + 1e-8))
        return output_tensor


class DigitCaps(nn.Module):
    def __init__(self, num_capsules=10, num_routes=4 * 2 * 2, in_channels=8, out_channels=16):
        super(DigitCaps, self).__init__()

        self.in_channels = in_channels
        self.num_routes = num_routes
        self.num_capsules = num_capsules

        self.W = nn.Parameter(0.1 * torch.randn(1, num_routes, num_capsules, out_channels, in_channels))

    def forward(self, x):
        batch_size = x.size(0)
        x = torch.stack([x] * self.num_capsules, dim=2).unsqueeze(4)

        W = torch.cat([self.W] * batch_size, dim=0)
        u_hat = torch.matmul(W, x)

        b_ij = torch.zeros(1, self.num_routes, self.num_capsules, 1)
        if USE_CUDA:
            b_ij = b_ij.cuda()

        num_iterations = 3
        for iteration in range(num_iterations):
            c_ij = F.softmax(b_ij, dim=2)
            c_ij = torch.cat([c_ij] * batch_size, dim=0).unsqueeze(4)

            s_j = (c_ij * u_hat).sum(dim=1, keepdim=True)
            v_j = self.squash(s_j)

            if iteration < num_iterations - 1:
                a_ij = torch.matmul(u_hat.transpose(3, 4), torch.cat([v_j] * self.num_routes, dim=1))
                b_ij = b_ij + a_ij.squeeze(4).mean(dim=0, keepdim=True)

        return v_j.squeeze(1)

    def squash(self, input_tensor):
        squared_norm = (input_tensor ** 2).sum(-2, keepdim=True)
        return squared_norm * input_tensor / ((1. + squared_norm) * torch.sqrt(squared_norm + 1e-8))


class Decoder(nn.Module):
    def __init__(self):
        super(Decoder, self).__init__()

        self.reconstraction_layers = nn.Sequential(
            nn.Linear(16 * 10, 128),
            nn.ReLU(inplace=True),
            nn.Linear(128, 96),
            nn.ReLU(inplace=True),
            nn.Linear(96, 64),
            nn.Sigmoid()
        )

    def forward(self, x, data):
        classes = torch.sqrt((x ** 2).sum(2))
        classes = F.softmax(classes, dim=1)

        _, max_length_indices = classes.max(dim=1)
        masked = torch.eye(10)
        if USE_CUDA:
            masked = masked.cuda()
        masked = masked.index_select(dim=0, index=max_length_indices.squeeze(1).data)

        reconstructions = self.reconstraction_layers((x * masked[:, :, None, None]).view(x.size(0), -1))
        reconstructions = reconstructions.view(-1, 1, 8, 8)

        return reconstructions, masked


class CapsNet(nn.Module):
    def __init__(self):
        super(CapsNet, self).__init__()
        self.conv_layer = ConvLayer()
        self.primary_capsules = PrimaryCaps()
        self.digit_capsules = DigitCaps()
        self.decoder = Decoder()

        self.mse_loss = nn.MSELoss()

    def forward(self, data):
        output = self.digit_capsules(self.primary_capsules(self.conv_layer(data)))
        reconstructions, masked = self.decoder(output, data)
        return output, reconstructions, masked

    def loss(self, data, x, target, reconstructions):
        return self.margin_loss(x, target) + self.reconstruction_loss(data, reconstructions)

    def margin_loss(self, x, labels, size_average=True):
        batch_size = x.size(0)

        v_c = torch.sqrt((x ** 2).sum(dim=2, keepdim=True))

        left = F.relu(0.9 - v_c).view(batch_size, -1) ** 2
        right = F.relu(v_c - 0.1).view(batch_size, -1) ** 2

        loss = labels * left + 0.5 * (1.0 - labels) * right
        loss = loss.sum(dim=1).mean()

        return loss

    def reconstruction_loss(self, data, reconstructions):
        loss = self.mse_loss(reconstructions.view(reconstructions.size(0), -1), data.view(reconstructions.size(0), -1))
        return loss * 0.0005


if __name__ == '__main__':
    capsule_net = CapsNet()
    if USE_CUDA:
        capsule_net = capsule_net.cuda()
    optimizer = Adam(capsule_net.parameters())

    batch_size = 25
    mnist = Digits(batch_size)

    capsule_net.train()
    train_loss = 0
    for batch_id, (data, target) in enumerate(mnist.train_loader):
        if batch_id == 3:
            break

        target = torch.eye(10).index_select(dim=0, index=target)

        optimizer.zero_grad()
        output, reconstructions, masked = capsule_net(data)
        loss = capsule_net.loss(data, output, target, reconstructions)
        loss.backward()
        optimizer.step()

        train_loss += loss.item()
        correct = sum(masked.argmax(1) == target.argmax(1))
        print("train accuracy: %.3f loss: %.4f" % (correct.item() / float(batch_size), loss.item()))

    capsule_net.eval()
    test_loss = 0
    hits = 0
    with torch.no_grad():
        for data, target in mnist.test_loader:
            target = torch.eye(10).index_select(dim=0, index=target)
            output, reconstructions, masked = capsule_net(data)
            test_loss += capsule_net.loss(data, output, target, reconstructions).item()
            hits += (masked.argmax(1) == target.argmax(1)).sum().item()
    print("test loss: %.4f  test accuracy: %.3f" % (test_loss / len(mnist.test_loader), hits / 100.0))
    print("reconstruction example:")
    for row in reconstructions[0, 0]:
        print("".join(" .:-=+*#%@"[min(9, int(v * 10))] for v in row))
