"""What is public goes to another process: through pickle and cloudpickle, and is the same there."""

import copy
import importlib
import pickle
import pkgutil
from types import ModuleType

import cloudpickle
import pytest

import simpletorch as st

LEFT_OUT = {"UNRESOLVED", "RULES", "MODULES"}  # tables of rules, and a mark that is compared by identity
PACKAGES = ["simpletorch"] + [
    f"simpletorch.{module.name}"
    for module in pkgutil.iter_modules(st.__path__)
    if not module.name.startswith("_") and module.name not in ("cli", "language_server", "mypy", "notebook")
]


def is_torchs(value: object) -> bool:
    """Whether torch made it in a function, or has put another in its place: pickle refuses it in torch too."""
    home, name = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
    if not isinstance(home, str) or not home.startswith("torch."):
        return False
    return "<locals>" in name or getattr(importlib.import_module(home), name, value) is not value


@pytest.mark.parametrize("package", PACKAGES)
def test_each_public_name_comes_back(package: str):
    module = importlib.import_module(package)
    for name in getattr(module, "__all__", ()):
        value = getattr(module, name)
        if name in LEFT_OUT or is_torchs(value):
            continue
        for library in (cloudpickle, pickle):
            if library is cloudpickle or type(value) is not ModuleType:  # Python's pickle takes no modules
                back = library.loads(library.dumps(value))
                same = back is value or back == value or getattr(back, "__qualname__", 0) == value.__qualname__
                assert same, (library.__name__, name)


def test_the_package_itself_is_sent_by_its_name():
    for copied in (pickle.loads(pickle.dumps(st)), cloudpickle.loads(cloudpickle.dumps(st)), copy.deepcopy(st)):
        assert copied is st


def test_a_function_that_uses_it_is_sent():
    scope = {"st": st, "__name__": "__main__"}
    exec("def f(n):\n    return st.zeros(n, 3).shape\n", scope)
    assert cloudpickle.loads(cloudpickle.dumps(scope["f"]))(2) == (2, 3)
