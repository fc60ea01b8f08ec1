# == contextmanager
from contextlib import contextmanager
log = []
@contextmanager
def f(x):
    log.append('in')
    yield x * 2
    log.append('out')
with f(3) as y:
    log.append(y)

# == nullcontext
from contextlib import nullcontext
with nullcontext(7) as x:
    a = x
with nullcontext():
    b = 3

# == suppress
from contextlib import suppress
with suppress(KeyError):
    {}['a']
a = 1
with suppress(ValueError):
    b = 2

# == ExitStack
from contextlib import ExitStack, closing, nullcontext
with ExitStack() as stack:
    a = stack.enter_context(nullcontext(3))
with closing(open(__file__)) as some:
    d = 5
