# MAML on sinusoids with torch.func, an ensemble with vmap, and a small hypernetwork
import math
import torch
from torch import nn
from torch.func import functional_call, grad, vmap, stack_module_state
import copy

class Net(nn.Module):
    def __init__(self, hidden=20):
        super(Net, self).__init__()
        self.fc1 = nn.Linear(1, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc3 = nn.Linear(hidden, 1)

    def forward(self, x):
        x = self.fc1(x)
        x = torch.relu(x)
        x = self.fc2(x)
        x = torch.relu(x)
        x = self.fc3(x)
        return x

def mse_loss(x, y):
    return ((x - y) ** 2).mean()

def sample_tasks(outer_batch_size, inner_batch_size):
    # Select amplitude and phase for the task
    As = []
    phases = []
    for _ in range(outer_batch_size):
        As.append(torch.empty(()).uniform_(0.1, 0.5).item())
        phases.append(torch.rand(()).item() * math.pi)

    def get_batch():
        xs, ys = [], []
        for A, phase in zip(As, phases):
            x = torch.rand(inner_batch_size) * 10 - 5
            y = A * torch.sin(x + phase)
            xs.append(x)
            ys.append(y)
        return torch.stack(xs), torch.stack(ys)

    x1, y1 = get_batch()
    x2, y2 = get_batch()
    return x1, y1, x2, y2

def maml(K=8, num_tasks=4, alpha=0.1, steps=3):
    net = Net()
    params = dict(net.named_parameters())
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    losses = []

    def get_loss_for_task(params, x1, y1, x2, y2):
        def inner_loss(params, x1, y1):
            f = functional_call(net, params, (x1,))
            loss = mse_loss(f, y1)
            return loss

        grads = grad(inner_loss)(params, x1, y1)
        new_params = {k: params[k] - alpha * grads[k] for k in params}

        v_f = functional_call(net, new_params, (x2,))
        return mse_loss(v_f, y2)

    for it in range(steps):
        x1, y1, x2, y2 = sample_tasks(num_tasks, K)
        x1, y1, x2, y2 = (t.unsqueeze(-1) for t in (x1, y1, x2, y2))
        inner_losses = torch.stack([get_loss_for_task(params, *task) for task in zip(x1, y1, x2, y2)])
        loss2 = inner_losses.sum() / len(inner_losses)
        losses.append(loss2.detach())
        opt.zero_grad()
        loss2.backward()
        opt.step()
    return losses

def ensemble(num_models=5, batch=7):
    models = [Net(hidden=11) for _ in range(num_models)]
    params, buffers = stack_module_state(models)
    base_model = copy.deepcopy(models[0]).to('meta')

    def fmodel(params, buffers, x):
        return functional_call(base_model, (params, buffers), (x,))

    x = torch.randn(batch, 1)
    minibatches = torch.randn(num_models, batch, 1)
    shared = vmap(fmodel, in_dims=(0, 0, None))(params, buffers, x)
    own = vmap(fmodel)(params, buffers, minibatches)
    mean, std = shared.mean(0), shared.std(0)
    # per-sample gradients
    def sample_loss(p, xi, yi):
        return mse_loss(functional_call(models[0], p, (xi.unsqueeze(0),)), yi.unsqueeze(0))
    p0 = {k: v.detach() for k, v in models[0].named_parameters()}
    g = vmap(grad(sample_loss), in_dims=(None, 0, 0))(p0, x, mean.detach())
    norms = torch.stack([v.flatten(1).norm(dim=1) for v in g.values()], dim=1).norm(dim=1)
    return own.shape, std.shape, norms

class HyperNet(nn.Module):
    """task code -> weights of a 1-h-1 network, applied with bmm"""
    def __init__(self, code=4, h=9):
        super().__init__()
        self.sizes = {'w1': (1, h), 'b1': (1, h), 'w2': (h, 1), 'b2': (1, 1)}
        total = sum(a * b for a, b in self.sizes.values())
        self.net = nn.Sequential(nn.Linear(code, 24), nn.Tanh(), nn.Linear(24, total))

    def unpack(self, flat):
        out, i = {}, 0
        for name, (a, b) in self.sizes.items():
            out[name] = flat[:, i:i + a * b].view(-1, a, b)
            i += a * b
        return out

    def forward(self, z, x):
        w = self.unpack(self.net(z))
        h = torch.tanh(torch.baddbmm(w['b1'], x, w['w1']))
        return torch.bmm(h, w['w2']) + w['b2']

def main():
    torch.manual_seed(0)
    print([round(l.item(), 4) for l in maml()])
    print(*ensemble())

    codes = nn.Embedding(6, 4)
    hyper = HyperNet()
    opt = torch.optim.SGD([*codes.parameters(), *hyper.parameters()], lr=1e-2)
    for _ in range(3):
        x1, y1, *_rest = sample_tasks(6, 10)
        pred = hyper(codes(torch.arange(6)), x1[..., None])
        loss = mse_loss(pred, y1[..., None])
        opt.zero_grad(); loss.backward(); opt.step()
    print('hyper', loss.item(), pred.shape)

if __name__ == '__main__':
    main()
