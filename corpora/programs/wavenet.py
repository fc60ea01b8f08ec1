import torch, random
import torch.nn as nn
import torch.nn.functional as F
import numpy as np

class CausalConv1d(torch.nn.Conv1d):
  def __init__(self, in_channels, out_channels, kernel_size, stride=1, dilation=1, groups=1, bias=True):
    self.__padding = (kernel_size - 1) * dilation
    super().__init__(in_channels, out_channels, kernel_size=kernel_size, stride=stride,
                     padding=self.__padding, dilation=dilation, groups=groups, bias=bias)

  def forward(self, input):
    result = super().forward(input)
    if self.__padding != 0:
      return result[:, :, :-self.__padding]
    return result

class ResBlock(nn.Module):
  def __init__(self, res_ch, skip_ch, k, dilation, cond_ch=0):
    super().__init__()
    self.filter_gate = CausalConv1d(res_ch, 2*res_ch, k, dilation=dilation)
    self.cond = nn.Conv1d(cond_ch, 2*res_ch, 1, bias=False) if cond_ch else None
    self.to_res = nn.Conv1d(res_ch, res_ch, 1)
    self.to_skip = nn.Conv1d(res_ch, skip_ch, 1)

  def forward(self, x, c=None):
    fg = self.filter_gate(x)
    if self.cond is not None: fg = fg + self.cond(c)
    f, g = fg.chunk(2, 1)
    z = torch.tanh(f) * torch.sigmoid(g)
    return x + self.to_res(z), self.to_skip(z)

class WaveNet(nn.Module):
  def __init__(self, n_classes=64, res_ch=12, skip_ch=20, stacks=2, layers=4, k=2, n_speakers=None, spk_dim=5):
    super().__init__()
    self.n_classes = n_classes
    self.embed = nn.Embedding(n_classes, res_ch)
    self.speakers = nn.Embedding(n_speakers, spk_dim) if n_speakers else None
    self.dilations = [2**i for _ in range(stacks) for i in range(layers)]
    self.blocks = nn.ModuleList(ResBlock(res_ch, skip_ch, k, d, spk_dim if n_speakers else 0) for d in self.dilations)
    self.post = nn.Sequential(nn.ReLU(), nn.Conv1d(skip_ch, skip_ch, 1), nn.ReLU(), nn.Conv1d(skip_ch, n_classes, 1))
    self.receptive_field = sum(self.dilations)*(k-1) + 1

  def forward(self, q, speaker=None):
    x = self.embed(q).permute(0, 2, 1)
    c = None
    if self.speakers is not None:
      c = self.speakers(speaker).unsqueeze(-1)
    total = 0
    for b in self.blocks:
      x, s = b(x, c)
      total += s
    return self.post(total)

  @torch.no_grad()
  def generate(self, seed, n, speaker=None):
    self.eval()
    out = seed
    for _ in range(n):
      ctx = out[:, -self.receptive_field:]
      p = self(ctx, speaker)[:, :, -1].softmax(1)
      nxt = torch.multinomial(p, 1)
      out = torch.cat([out, nxt], 1)
    return out[:, seed.size(1):]

def mu_law(x, classes):
  mu = classes - 1
  y = np.sign(x) * np.log1p(mu*np.abs(x)) / np.log1p(mu)
  return ((y + 1)/2*mu + 0.5).astype(np.int64)

def inv_mu_law(q, classes):
  mu = classes - 1
  y = q.float()/mu*2 - 1
  return y.sign() * ((1 + mu)**y.abs() - 1) / mu

def clips(n, length, sr=400):
  t = np.arange(length+1)/sr
  for i in range(n):
    f = random.uniform(5, 40)
    yield i % 3, 0.8*np.sin(2*np.pi*f*t + random.random())

def batches(data, bs):
  for i in range(0, len(data), bs):
    spk, wav = zip(*data[i:i+bs])
    wav = torch.from_numpy(np.stack([mu_law(w, 64) for w in wav]))
    yield torch.tensor(spk), wav[:, :-1], wav[:, 1:]

def main():
  random.seed(5); np.random.seed(5); torch.manual_seed(5)
  net = WaveNet(n_speakers=3)
  print('receptive field', net.receptive_field, 'params', sum(p.numel() for p in net.parameters()))
  opt = torch.optim.Adam(net.parameters(), 2e-3)
  data = list(clips(10, 150))
  for ep in range(2):
    tot = []
    for spk, x, y in batches(data, 4):
      out = net(x, spk)
      # the first samples have no past
      loss = F.cross_entropy(out[..., net.receptive_field:], y[:, net.receptive_field:])
      opt.zero_grad(); loss.backward(); opt.step()
      tot.append(loss.item())
    print(ep, np.mean(tot))
  g = net.generate(torch.full((2, 1), 32), 6, torch.tensor([0, 2]))
  w = inv_mu_law(g, 64)
  print(w.shape, w.abs().max())
  plain = WaveNet(stacks=1, layers=3)
  print(plain(torch.randint(64, (1, 9))).shape)

if __name__ == '__main__':
  main()
