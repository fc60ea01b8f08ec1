# == else and finally
log = []
def f(k):
    try:
        if k:
            raise ValueError
    except ValueError:
        log.append(2)
        return 3
    else:
        log.append(5)
        return 7
    finally:
        log.append(11)
n = f(0)
m = f(1)
q = sum(log)
# == finally overrides
def f():
    try:
        return 2
    finally:
        return 3
def g():
    try:
        raise ValueError
    finally:
        return 5
def h():
    while True:
        try:
            return 2
        finally:
            break
    return 7
n, m, q = f(), g(), h()
# == finally sees the value already computed
def f():
    x = 2
    try:
        return x
    finally:
        x = 3
n = f()
# == raise from
try:
    try:
        raise KeyError(3)
    except KeyError as e:
        raise RuntimeError("x") from e
except RuntimeError as e:
    n = e.__cause__.args[0]
    m = 2 if e.__suppress_context__ else 5
    q = 2 if e.__context__ is e.__cause__ else 7
# == context
try:
    try:
        raise KeyError(3)
    except KeyError:
        raise ValueError(5)
except ValueError as e:
    n = e.__context__.args[0]
    m = 2 if e.__cause__ is None else 7
# == from None
try:
    try:
        raise KeyError(3)
    except KeyError:
        raise ValueError(5) from None
except ValueError as e:
    n = 2 if e.__cause__ is None else 3
    m = 2 if e.__suppress_context__ else 5
# == the context of an error of Python's own
try:
    try:
        {}["a"]
    except KeyError:
        1 / 0
except ZeroDivisionError as e:
    n = 2 if isinstance(e.__context__, KeyError) else 3
# == args
try:
    raise ValueError(2, 3)
except ValueError as e:
    a, b = e.args
n = a + b
class E(Exception):
    def __init__(self, n):
        super().__init__("msg")
        self.n = n
try:
    raise E(5)
except E as e:
    m = e.n
    q = len(e.args)
    r = len(str(e))
# == args without init
class E(Exception): pass
try:
    raise E(5, 7)
except E as e:
    n = e.args[1]
try:
    raise E
except E as e:
    m = len(e.args)
# == handlers in order
def f(e):
    try:
        raise e
    except (KeyError, IndexError):
        return 2
    except LookupError:
        return 3
    except Exception:
        return 5
n = f(KeyError())
m = f(LookupError())
q = f(ValueError())
# == re-raise
log = []
try:
    try:
        raise ValueError(2)
    except ValueError:
        log.append(3)
        raise
except ValueError as e:
    n = e.args[0] + log[0]
# == raise in else
try:
    try:
        pass
    except ValueError:
        n = 2
    else:
        raise ValueError
except ValueError:
    n = 3
# == nested finally
log = []
try:
    try:
        try:
            raise ValueError
        finally:
            log.append(2)
    finally:
        log.append(3)
except ValueError:
    log.append(5)
n = log[0] * 100 + log[1] * 10 + log[2]
# == notes
try:
    e = ValueError("x")
    e.add_note("a")
    e.add_note("b")
    raise e
except ValueError as e:
    n = len(e.__notes__)
# == groups
try:
    raise ExceptionGroup("g", [ValueError(2), KeyError(3), ValueError(5)])
except* ValueError as g:
    n = len(g.exceptions)
except* KeyError as g:
    m = g.exceptions[0].args[0]
# == groups that remain
try:
    try:
        raise ExceptionGroup("g", [ValueError(2), KeyError(3)])
    except* ValueError:
        n = 2
except ExceptionGroup as g:
    m = len(g.exceptions)
# == split and subgroup
g = ExceptionGroup("g", [ValueError(2), KeyError(3)])
a, b = g.split(ValueError)
n = len(a.exceptions) + len(b.exceptions)
m = 2 if g.subgroup(TypeError) is None else 3
# == except star of a plain exception
try:
    raise ValueError(2)
except* ValueError as g:
    n = len(g.exceptions)
# == ExitStack
import contextlib
log = []
with contextlib.ExitStack() as stack:
    stack.callback(log.append, 3)
    stack.callback(log.append, 5)
    n = len(log)
m = log[0]
q = len(log)
# == ExitStack with managers
import contextlib
log = []
class M:
    def __init__(self, n): self.n = n
    def __enter__(self): return self.n
    def __exit__(self, *e):
        log.append(self.n)
        return self.n == 3
with contextlib.ExitStack() as stack:
    a = stack.enter_context(M(2))
    b = stack.enter_context(M(3))
    raise ValueError
n = a + b
m = log[0]
q = len(log)
# == with several managers
log = []
class M:
    def __init__(self, n): self.n = n
    def __enter__(self):
        log.append(self.n)
        return self.n
    def __exit__(self, *e): log.append(-self.n)
with M(2) as a, M(3) as b:
    log.append(a * b)
n = log[2]
m = log[3]
# == what exit is told
class M:
    def __enter__(self): return self
    def __exit__(self, kind, value, tb):
        self.n = 2 if kind is None else value.args[0]
        return True
with M() as a:
    pass
n = a.n
with M() as b:
    raise ValueError(5)
m = b.n
# == exit that raises
class M:
    def __enter__(self): return self
    def __exit__(self, *e): raise KeyError(7)
try:
    with M():
        raise ValueError(5)
except KeyError as e:
    n = e.args[0]
    m = e.__context__.args[0]
# == suppress
import contextlib
n = 2
with contextlib.suppress(KeyError, IndexError):
    [][0]
    n = 3
m = n
# == nullcontext and closing
import contextlib
with contextlib.nullcontext(5) as n:
    m = n + 1
class C:
    n = 2
    def close(self): self.n = 3
with contextlib.closing(C()) as c:
    q = c.n
r = c.n
# == raise of what is no exception
try:
    raise 5
except TypeError:
    n = 2
# == raise with nothing to raise
try:
    raise
except RuntimeError:
    n = 2
# == assert
try:
    assert 2 > 3, "x"
    n = 2
except AssertionError as e:
    n = len(e.args)
# == not implemented
class A:
    def f(self): raise NotImplementedError
class B(A):
    def f(self): return 2
n = B().f()
try:
    m = A().f()
except NotImplementedError:
    m = 3
try:
    q = A().f()
except RuntimeError:
    q = 5
# == stop iteration
it = iter([2])
next(it)
try:
    next(it)
    n = 2
except StopIteration:
    n = 3
# == unicode errors
try:
    "ä".encode("ascii")
    n = 2
except UnicodeError:
    n = 3
try:
    b"\xff".decode()
    m = 2
except UnicodeDecodeError:
    m = 5
try:
    b"\xff".decode("utf-8")
    q = 2
except ValueError:
    q = 7
# == files that aren't there
try:
    open("/nowhere/at/all")
    n = 2
except OSError:
    n = 3
# == sys.exit is caught
import sys
try:
    sys.exit(3)
except SystemExit as e:
    n = e.code
# == custom hierarchies
class A(Exception): pass
class B(A, KeyError): pass
def f(k):
    try:
        raise B(3)
    except k as e:
        return e.args[0]
n = f(A) + f(KeyError) + f(LookupError)
# == bare except
try:
    nothing_there
except:
    n = 2
# == exceptions in a loop
n = 0
for x in (2, 0, 5):
    try:
        n += 10 // x
    except ZeroDivisionError:
        n += 100
        continue
    finally:
        n += 1
m = n
# == break and continue in finally's try
n = 0
for x in range(5):
    try:
        if x == 1:
            continue
        if x == 3:
            break
        n += x
    finally:
        n += 100
m = n
# == isinstance of errors
try:
    [].foo
except Exception as e:
    n = 2 if isinstance(e, AttributeError) else 3
    m = 2 if type(e) is AttributeError else 5
# == key error args
try:
    {}["abc"]
except KeyError as e:
    n = len(e.args[0])
# == exception in default dict
import collections
d = collections.defaultdict(list)
d["a"].append(2)
n = len(d["a"]) + len(d["b"])
m = len(d)
d2 = collections.defaultdict()
try:
    d2["a"]
    q = 2
except KeyError:
    q = 3
# == try in a function with a value
def f(x):
    try:
        return int(x)
    except (ValueError, TypeError):
        return -1
n = f("5") + f("a") + f(None)
# == exception value is compared
def f():
    try:
        raise ValueError("abc")
    except ValueError as e:
        return len(str(e)) + len(repr(e))
n = f()
# == warnings are exceptions
try:
    raise UserWarning("x")
except Warning:
    n = 2
# == an exception of one of several kinds is raised again
import torch
class Plain:
    pass
def again():
    n = 1
    try:
        try:
            try:
                torch.zeros(3, 4)[Plain()]
                n = 6
            except Exception:
                raise
            n = 8
        except RuntimeError:
            n = 57
    except Exception as error:
        n += 10 + len(type(error).__name__)
    return n
t = torch.zeros(again())
# == ``**`` of an object without keys
import torch
class Items:
    def __getitem__(self, key):
        if key == 0:
            raise IndexError(key)
        return key
def unpacked():
    try:
        return len({**Items()})
    except TypeError:
        return 7
t = torch.zeros(unpacked())
# == the next item of an iterator that may have ended
import torch
import itertools
i = itertools.takewhile(lambda x: x < 3, [1, 2, 3, 1])
n = next(iter(i))
try:
    n += i.send(None)
except AttributeError:
    n += 5
for _ in range(3):
    try:
        n += i.__next__()
    except StopIteration:
        n += 11
t = torch.zeros(n)
# == dicts that go over their keys in their own way are joined
import torch
class Own(dict):
    def __iter__(self): return iter((8, 9))
    def __getitem__(self, k): return [41][k]
try:
    n = len(Own(a=1) | Own(a=1))
except TypeError:
    n = 7
t = torch.zeros(n)
# == a frozen set times a tensor, in place
import torch
x = torch.zeros(3, 4)
try:
    x *= frozenset({1})
    n = 3
except TypeError:
    n = 5
t = torch.zeros(n)
# == a class of managers without __exit__ is abstract
import contextlib
import torch
class Manager(contextlib.AbstractContextManager):
    pass
class Whole(Manager):
    def __exit__(self, *args):
        return True
with Whole():
    1 / 0
try:
    Manager()
    n = 2
except TypeError:
    n = 3
t = torch.zeros(n)
# == a manager's __exit__ that gets a class makes the exception
import contextlib
@contextlib.contextmanager
def changing():
    try:
        yield
    except RuntimeError:
        raise SyntaxError
manager = changing()
manager.__enter__()
try:
    manager.__exit__(RuntimeError, None, None)
    n = 2
except SyntaxError:
    n = 3
# == a manager passes StopIteration on, though it is the cause of another
import contextlib
import torch
@contextlib.contextmanager
def chaining():
    try:
        yield
    except Exception as error:
        raise RuntimeError("chained") from error
try:
    with chaining():
        raise StopIteration(3)
except Exception as error:
    n = 2 if type(error) is StopIteration else 3
t = torch.zeros(n)
# == what is raised on its way is the context of what finally raises
import torch
try:
    try:
        1 / 0
    finally:
        raise OSError
except OSError as error:
    n = 2 if isinstance(error.__context__, ZeroDivisionError) else 3
t = torch.zeros(n)
# == a generator has a qualified name
def steps():
    yield 1
n = 2 if steps().__qualname__ == "steps" else 3
