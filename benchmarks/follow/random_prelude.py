"""What every random program begins with: functions and classes that its statements use."""

import torch

calls = 0


def small(t):
    """The tensor, or some of it if it is large."""
    if t.ndim > 3:
        t = t.flatten()
    return t if t.numel() <= 600 else t.flatten()[:7]


def longer(t, times=2, *others, scale=None, **more):
    """Every kind of parameter."""
    global calls
    calls += 1
    for other in others:
        t = torch.cat([t.flatten(), other.flatten()])
    if scale is not None:
        t = t * scale
    if "up" in more:
        t = t.unsqueeze(more["up"])
    return small(torch.stack([t] * times))


def growing(t, steps):
    """A generator that yields pairs."""
    for step in range(steps):
        yield step, t
        t = small(t.unsqueeze(0))
    return t


def counter(t):
    """Two closures over one cell."""
    seen = []

    def add(other=None):
        nonlocal t
        seen.append(t)
        t = small(t.unsqueeze(-1)) if other is None else other
        return len(seen)

    return add, lambda: t


class Box:
    """Something with attributes, a property, and methods of each kind."""

    made = 0

    def __init__(self, t, *rest):
        self.t = t
        self.rest = list(rest)
        self.count = 0
        type(self).made += 1

    @property
    def size(self):
        """How many elements."""
        return self.t.numel()

    def step(self, t):
        """What push does to a tensor."""
        self.count += 1
        return t.flatten()

    def push(self, t):
        """Take a tensor, and remember the one before."""
        self.rest.append(self.t)
        self.t = small(self.step(t))
        return self

    @classmethod
    def of(cls, count):
        """A box of ones."""
        return cls(torch.ones(count, 3))

    @staticmethod
    def pair(t):
        """Two tensors."""
        return t, small(t[None])

    def __len__(self):
        return len(self.rest)

    def __getitem__(self, place):
        return self.rest[place]

    def __call__(self, t):
        """The outer product with some of it."""
        return small(torch.outer(self.t.flatten()[:5], t.flatten()[:3]))


def halving(t):
    """A generator that ends by itself, by ``try`` and ``finally``."""
    try:
        while t.numel() > 1:
            t = t.flatten()[: t.numel() // 2]
            yield t
    finally:
        t = t.flatten()
    yield t[:1]


def both(t, steps):
    """A generator of two others."""
    yield from growing(t, steps)
    for part in halving(t):
        yield steps, part


def kept(t, seen=[]):  # noqa: B006
    """A default that remembers what it was given."""
    seen.append(t)
    del seen[:-3]
    return small(torch.cat([x.flatten() for x in seen]))


def deep(t, levels):
    """Calls itself."""
    if levels <= 0 or t.ndim > 3:
        return t
    return small(deep(t.unsqueeze(0), levels - 1))


class Unfit(ValueError):
    """Raised by checked."""


def checked(t, rank):
    """Raises for some shapes."""
    if t.ndim != rank:
        raise Unfit(t.ndim)
    return t.flatten()


class Guarded:
    """Counts how often its tensor is set, and makes attributes up that are not there."""

    def __init__(self, t):
        self.changes = 0
        self.t = t

    def __setattr__(self, name, value):
        if name == "t":
            object.__setattr__(self, "changes", self.changes + 1)
            value = small(value[None])
        object.__setattr__(self, name, value)

    def __getattr__(self, name):
        if name.startswith("flat"):
            return self.t.flatten()
        raise AttributeError(name)

    @property
    def half(self):
        """Half of it."""
        return self.t.flatten()[: self.t.numel() // 2 + 1]

    @half.setter
    def half(self, t):
        self.t = t

    def __iter__(self):
        return iter([self.t, self.half])

    def __eq__(self, other):
        return isinstance(other, Guarded) and self.t.shape == other.t.shape

    __hash__ = None


class Tall(Box):
    """A box that does one thing otherwise, and is a context manager."""

    def step(self, t):
        """What push does to a tensor."""
        return super().step(t).unsqueeze(1)

    def __enter__(self):
        self.kept = self.t
        return self

    def __exit__(self, kind, value, trace):
        self.t = self.kept
        return kind is ValueError
