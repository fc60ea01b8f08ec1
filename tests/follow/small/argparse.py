# == defaults
import argparse
parser = argparse.ArgumentParser(description="train")
parser.add_argument("--dim", type=int, default=64, help="size")
parser.add_argument("--lr", type=float, default=1e-3)
parser.add_argument("--batch-size", "-b", type=int, default="32")
parser.add_argument("--name", default="x")
parser.add_argument("--no-cuda", action="store_true")
parser.add_argument("--keep", action="store_false")
parser.add_argument("--sizes", nargs="+", type=int, default=[2, 3])
parser.add_argument("--maybe")
parser.add_argument("--amp", action=argparse.BooleanOptionalAction, default=True)
args = parser.parse_args()
a = (args.dim, args.lr, args.batch_size, args.name, args.no_cuda, args.keep, args.maybe, args.amp)
b = args.sizes
c = vars(args)["dim"]
d = dict(args._get_kwargs())["name"], args._get_args()
del parser

# == a list of words
import argparse
p = argparse.ArgumentParser()
p.add_argument("data")
p.add_argument("rest", nargs="*")
p.add_argument("-v", action="count", default=0)
p.add_argument("--tag", action="append")
p.add_argument("--n", type=int, default=1)
p.add_argument("--const", action="store_const", const=7)
p.add_argument("--pair", nargs=2, type=float)
args = p.parse_args(["here", "x", "y", "-vv", "--tag", "a", "--tag=b", "--n", "5", "--const", "--pair", "1", "2.5"])
a = (args.data, args.v, args.n, args.const)
b = args.rest
c = args.tag
d = args.pair
del p

# == words that aren't known
import argparse
p = argparse.ArgumentParser()
p.add_argument("--n", type=int, default=1)
args, rest = p.parse_known_args(["--n", "3", "--m", "4"])
a = args.n
del p

# == groups
from argparse import ArgumentParser, Namespace
p = ArgumentParser()
g = p.add_argument_group("model")
g.add_argument("--dim", type=int, default=5)
e = p.add_mutually_exclusive_group()
e.add_argument("--fast", action="store_true")
e.add_argument("--slow", action="store_true")
p.set_defaults(dim=7, extra="z")
args = p.parse_args([])
a = (args.dim, args.fast, args.extra)
n = Namespace(x=3)
b = n.x
del p, g, e

# == types of the program's own
import argparse
def pair(text):
    a, b = text.split("x")
    return int(a), int(b)
p = argparse.ArgumentParser()
p.add_argument("--size", type=pair, default="3x5")
p.add_argument("--flag", type=lambda s: s.lower() == "true", default=False)
a = p.parse_args([]).size
b = p.parse_args(["--flag", "True", "--size", "7x2"])
c = (b.flag, b.size)
del p, b

# == a model's size
import argparse
import torch
from torch import nn
def main():
    p = argparse.ArgumentParser()
    p.add_argument("--hidden", type=int, default=11)
    args = p.parse_args()
    net = nn.Sequential(nn.Linear(5, args.hidden), nn.ReLU(), nn.Linear(args.hidden, 3))
    return net(torch.zeros(2, 5))
if __name__ == "__main__":
    out = main()
