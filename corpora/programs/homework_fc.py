"""Assignment 2: fully connected nets and a convolution from scratch. TODO blocks are filled in."""
import torch


def hello():
    print('Hello from homework_fc.py!')


class Linear(object):

    @staticmethod
    def forward(x, w, b):
        """x: (N, d_1, ..., d_k), w: (D, M), b: (M,)  ->  out: (N, M)"""
        out = x.reshape(x.shape[0], -1).mm(w) + b
        cache = (x, w, b)
        return out, cache

    @staticmethod
    def backward(dout, cache):
        x, w, b = cache
        dx = dout.mm(w.t()).view(*x.shape)
        dw = x.reshape(x.shape[0], -1).t().mm(dout)
        db = dout.sum(dim=0)
        return dx, dw, db


class ReLU(object):

    @staticmethod
    def forward(x):
        out = x.clone()
        out[out < 0] = 0
        return out, x

    @staticmethod
    def backward(dout, cache):
        x = cache
        dx = dout.clone()
        dx[x <= 0] = 0
        return dx


class Linear_ReLU(object):

    @staticmethod
    def forward(x, w, b):
        a, fc_cache = Linear.forward(x, w, b)
        out, relu_cache = ReLU.forward(a)
        return out, (fc_cache, relu_cache)

    @staticmethod
    def backward(dout, cache):
        fc_cache, relu_cache = cache
        da = ReLU.backward(dout, relu_cache)
        return Linear.backward(da, fc_cache)


class Conv(object):

    @staticmethod
    def forward(x, w, b, conv_param):
        pad, stride = conv_param['pad'], conv_param['stride']
        N, C, H, W = x.shape
        F_, _, HH, WW = w.shape
        H_ = 1 + (H + 2 * pad - HH) // stride
        W_ = 1 + (W + 2 * pad - WW) // stride
        xp = torch.nn.functional.pad(x, (pad, pad, pad, pad))
        out = torch.zeros((N, F_, H_, W_), dtype=x.dtype, device=x.device)
        for i in range(H_):
            for j in range(W_):
                patch = xp[:, :, i * stride:i * stride + HH, j * stride:j * stride + WW]
                out[:, :, i, j] = patch.reshape(N, -1) @ w.view(F_, -1).T + b
        return out, (xp, w, b, conv_param, x.shape)

    @staticmethod
    def backward(dout, cache):
        xp, w, b, conv_param, shape = cache
        pad, stride = conv_param['pad'], conv_param['stride']
        F_, C, HH, WW = w.shape
        N, _, H_, W_ = dout.shape
        dxp, dw = torch.zeros_like(xp), torch.zeros_like(w)
        db = dout.sum((0, 2, 3))
        for i in range(H_):
            for j in range(W_):
                ys, xs = slice(i * stride, i * stride + HH), slice(j * stride, j * stride + WW)
                g = dout[:, :, i, j]
                dw += torch.einsum('nf,nchw->fchw', g, xp[:, :, ys, xs])
                dxp[:, :, ys, xs] += torch.einsum('nf,fchw->nchw', g, w)
        return dxp[:, :, pad:-pad, pad:-pad], dw, db


def softmax_loss(x, y):
    shifted_logits = x - x.max(dim=1, keepdim=True).values
    Z = shifted_logits.exp().sum(dim=1, keepdim=True)
    log_probs = shifted_logits - Z.log()
    probs = log_probs.exp()
    N = x.shape[0]
    loss = (-1.0 / N) * log_probs[torch.arange(N), y].sum()
    dx = probs.clone()
    dx[torch.arange(N), y] -= 1
    dx /= N
    return loss, dx


class ConvThenFC(object):
    def __init__(self, input_dims=(3, 9, 11), num_filters=4, filter_size=3, hidden_dims=(30, 20), num_classes=10,
                 weight_scale=1e-2, reg=1e-3, dtype=torch.float32, device='cpu'):
        self.params = {}
        self.reg = reg
        self.num_layers = 1 + len(hidden_dims)
        C, H, W = input_dims
        self.params['W0'] = weight_scale * torch.randn(num_filters, C, filter_size, filter_size, dtype=dtype, device=device)
        self.params['b0'] = torch.zeros(num_filters, dtype=dtype, device=device)
        self.conv_param = {'stride': 1, 'pad': (filter_size - 1) // 2}
        last = num_filters * H * W
        for i, hidden in enumerate(list(hidden_dims) + [num_classes], start=1):
            self.params['W' + str(i)] = weight_scale * torch.randn(last, hidden, dtype=dtype, device=device)
            self.params['b' + str(i)] = torch.zeros(hidden, dtype=dtype, device=device)
            last = hidden

    def loss(self, X, y=None):
        caches = {}
        out, caches[0] = Conv.forward(X, self.params['W0'], self.params['b0'], self.conv_param)
        for i in range(1, self.num_layers):
            out, caches[i] = Linear_ReLU.forward(out, self.params['W%d' % i], self.params['b%d' % i])
        n = self.num_layers
        scores, caches[n] = Linear.forward(out, self.params[f'W{n}'], self.params[f'b{n}'])
        if y is None:
            return scores
        grads = {}
        loss, dout = softmax_loss(scores, y)
        for i in range(n + 1):
            loss += self.reg * torch.sum(self.params[f'W{i}'] ** 2)
        dout, grads[f'W{n}'], grads[f'b{n}'] = Linear.backward(dout, caches[n])
        for i in range(n - 1, 0, -1):
            dout, grads[f'W{i}'], grads[f'b{i}'] = Linear_ReLU.backward(dout, caches[i])
        _, grads['W0'], grads['b0'] = Conv.backward(dout, caches[0])
        for i in range(n + 1):
            grads[f'W{i}'] += 2 * self.reg * self.params[f'W{i}']
        return loss, grads


def adam(w, dw, config=None):
    if config is None:
        config = {}
    config.setdefault('learning_rate', 1e-3)
    config.setdefault('beta1', 0.9)
    config.setdefault('beta2', 0.999)
    config.setdefault('epsilon', 1e-8)
    config.setdefault('m', torch.zeros_like(w))
    config.setdefault('v', torch.zeros_like(w))
    config.setdefault('t', 0)
    config['t'] += 1
    config['m'] = config['beta1'] * config['m'] + (1 - config['beta1']) * dw
    mt = config['m'] / (1 - config['beta1'] ** config['t'])
    config['v'] = config['beta2'] * config['v'] + (1 - config['beta2']) * (dw * dw)
    vc = config['v'] / (1 - config['beta2'] ** config['t'])
    return w - config['learning_rate'] * mt / (torch.sqrt(vc) + config['epsilon']), config


class Solver(object):
    def __init__(self, model, data, **kwargs):
        self.model = model
        self.X_train = data['X_train']
        self.y_train = data['y_train']
        self.X_val = data['X_val']
        self.y_val = data['y_val']
        self.update_rule = kwargs.pop('update_rule', adam)
        self.optim_config = kwargs.pop('optim_config', {})
        self.batch_size = kwargs.pop('batch_size', 100)
        self.num_epochs = kwargs.pop('num_epochs', 10)
        if len(kwargs) > 0:
            extra = ', '.join('"%s"' % k for k in kwargs.keys())
            raise ValueError('Unrecognized arguments %s' % extra)
        self.loss_history = []
        self.optim_configs = {}
        for p in self.model.params:
            d = {k: v for k, v in self.optim_config.items()}
            self.optim_configs[p] = d

    def _step(self):
        num_train = self.X_train.shape[0]
        batch_mask = torch.randperm(num_train)[:self.batch_size]
        loss, grads = self.model.loss(self.X_train[batch_mask], self.y_train[batch_mask])
        self.loss_history.append(loss.item())
        with torch.no_grad():
            for p, w in self.model.params.items():
                next_w, next_config = self.update_rule(w, grads[p], self.optim_configs[p])
                self.model.params[p] = next_w
                self.optim_configs[p] = next_config

    def check_accuracy(self, X, y, num_samples=None, batch_size=8):
        N = X.shape[0]
        num_batches = N // batch_size
        if N % batch_size != 0:
            num_batches += 1
        y_pred = []
        for i in range(num_batches):
            start, end = i * batch_size, (i + 1) * batch_size
            scores = self.model.loss(X[start:end])
            y_pred.append(torch.argmax(scores, dim=1))
        y_pred = torch.cat(y_pred)
        return (y_pred == y).to(torch.float).mean().item()

    def train(self):
        per_epoch = max(self.X_train.shape[0] // self.batch_size, 1)
        for t in range(self.num_epochs * per_epoch):
            self._step()
            if (t + 1) % per_epoch == 0:
                for k in self.optim_configs:
                    self.optim_configs[k]['learning_rate'] *= 0.95
        print(self.loss_history[-1], self.check_accuracy(self.X_val, self.y_val))


def main():
    torch.manual_seed(0)
    data = {'X_train': torch.randn(40, 3, 9, 11), 'y_train': torch.randint(10, (40,)),
            'X_val': torch.randn(17, 3, 9, 11), 'y_val': torch.randint(10, (17,))}
    model = ConvThenFC()
    Solver(model, data, num_epochs=2, batch_size=16, optim_config={'learning_rate': 2e-3}).train()


if __name__ == '__main__':
    hello()
    main()
