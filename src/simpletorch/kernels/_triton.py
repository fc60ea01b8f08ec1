"""``@kernels.triton(grid=...)``: a ``@triton.jit`` function whose launches are typed.

::

    @kernels.triton(grid=lambda given: (triton.cdiv(given["n"], given["BLOCK"]),), configs=[{"BLOCK": 1024}])
    @triton.jit
    def relu_add(x: "Pointer[Float]", y: "Pointer[Float]", out: "Pointer[Float]", n: "Size", BLOCK: tl.constexpr): ...

    relu_add(x, y, out, x.numel())

A launch is checked once for each combination of dtypes and constants; later launches cost a look into a set. Inside
`torch.compile` the launch goes through `torch.library.wrap_triton`, so the compiled program calls the kernel itself.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import torch

from simpletorch.dtypes import dtype_of
from simpletorch.errors import BackendError
from simpletorch.kernels._signatures import Parameter, signature_of
from simpletorch.kernels._tuning import Tuning

__all__ = ["KERNELS", "OPTIONS", "Config", "Grid", "TritonKernel", "triton"]

Config: TypeAlias = Mapping[str, Any]
Grid: TypeAlias = Callable[[Mapping[str, Any]], tuple[int, ...]]

# what a launch or a config may say besides the kernel's own parameters
OPTIONS: Final = ("num_warps", "num_stages", "num_ctas", "maxnreg")

# every kernel that was bound, by module and name: what `compile_check()` goes through
KERNELS: Final[dict[str, TritonKernel]] = {}


def interpreted() -> bool:
    """Whether Triton runs its kernels in Python, on the CPU."""
    return os.environ.get("TRITON_INTERPRET", "0") == "1"


class TritonKernel:
    """A kernel that is launched by calling it with its arguments, in order, and its constants by name.

    Args:
        function: a function that ``@triton.jit`` has compiled.
        grid, restore: as for `triton`.

    Attributes:
        configs: values of the constants that the kernel is made for. A launch that leaves constants out gets them from
            here (the fastest one, if there are several), and `compile_check` compiles each of them.
    """

    def __init__(self, function: Any, grid: Grid, configs: Sequence[Config], restore: Sequence[str]) -> None:
        self.function = function
        self.python: Callable[..., Any] = function.fn
        self.grid = grid
        self.configs = tuple(dict(config) for config in configs)
        self.signature = signature_of(self.python)
        self.name = self.signature.name
        self.__doc__ = self.python.__doc__
        self._passed = tuple(p for p in self.signature.parameters if p.kind != "constexpr")
        self._names = tuple(p.name for p in self._passed)
        self._required = frozenset(p.name for p in self.signature.constants if p.default is inspect.Parameter.empty)
        # where all constants come last, as they do in most kernels, the arguments of a launch are put together at once
        kinds = [p.kind == "constexpr" for p in self.signature.parameters]
        self._constants_last = kinds == sorted(kinds)
        self._seen: set[object] = set()
        self._tails: dict[object, tuple[tuple[Any, ...], dict[str, Any]]] = {}
        self._tuning = Tuning(self, restore)
        for config in self.configs:
            self._check_constants(config)
        KERNELS[f"{self.python.__module__}.{self.name}"] = self

    def __repr__(self) -> str:
        return f"<Triton kernel {self.name}>"

    def __call__(self, *values: Any, **constants: Any) -> None:
        """Launch the kernel. Nothing happens if the grid is empty.

        Raises:
            BackendError: an argument doesn't fit its parameter, there is no GPU, or Triton can't compile it.
        """
        kinds = [(v.__class__, v.dtype, v.is_cpu) if isinstance(v, torch.Tensor) else v.__class__ for v in values]
        key = (*kinds, *constants.items())
        if key not in self._seen:
            self._check(values, constants)
            self._seen.add(key)
        if not self._required <= constants.keys():
            constants = {**self._tuning.config(values), **constants}
        self.launch(values, constants)

    def launch(self, values: Sequence[Any], constants: Mapping[str, Any]) -> None:
        """Launch with all constants given, unchecked.

        Args:
            values: the arguments that aren't constants, in order.
            constants: every constant and option, by name.
        """
        grid = self.grid({**dict(zip(self._names, values, strict=True)), **constants})
        if any(isinstance(size, int) and size == 0 for size in grid):
            return
        function = self.function
        for value in values:
            if isinstance(value, torch.Tensor) and value.__class__ not in _PLAIN:
                function = torch.library.wrap_triton(function)
                break
        tail, options = self._tail(constants)
        arguments = (*values, *tail) if self._constants_last else self._in_order(values, constants)
        try:
            function[grid](*arguments, **options)
        except Exception as error:
            raise self._explained(error, constants) from error

    def _tail(self, constants: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The constants in their order, and the options of a launch: the same for the same constants."""
        key = tuple(constants.items())
        found = self._tails.get(key)
        if found is None:
            tail = tuple(constants.get(p.name, p.default) for p in self.signature.constants)
            found = self._tails[key] = (tail, _options(constants))
        return found

    def _in_order(self, values: Sequence[Any], constants: Mapping[str, Any]) -> list[Any]:
        """The arguments as the function takes them, which may have constants anywhere."""
        passed = iter(values)
        return [
            constants.get(p.name, p.default) if p.kind == "constexpr" else next(passed)
            for p in self.signature.parameters
        ]

    def _check(self, values: Sequence[Any], constants: Mapping[str, Any]) -> None:
        if len(values) != len(self._passed):
            raise BackendError(
                f"{self.name} takes {len(self._passed)} arguments ({', '.join(self._names)}), not {len(values)}",
                hint="constants are passed by name, after these",
            )
        for parameter, value in zip(self._passed, values, strict=True):
            reason = _reason(parameter, value)
            if reason:
                raise BackendError(f"{self.name}: {reason}")
        self._check_constants(constants)
        if not interpreted() and any(isinstance(v, torch.Tensor) and v.is_cpu for v in values):
            raise BackendError(
                f"{self.name}: a Triton kernel needs tensors on a GPU, and these are on the CPU",
                hint="call the operator, which has a path for the CPU; TRITON_INTERPRET=1 runs kernels there, slowly",
            )
        missing = sorted(self._required - constants.keys())
        if missing and not self.configs:
            raise BackendError(f"{self.name}: {', '.join(missing)} is neither passed nor in configs")

    def _check_constants(self, constants: Mapping[str, Any]) -> None:
        known = {parameter.name for parameter in self.signature.constants}
        for name in constants:
            if name not in known and name not in (*OPTIONS, "arch"):
                raise BackendError(
                    f"{self.name} has no constant {name}", hint=f"it has {', '.join(sorted(known)) or 'none'}"
                )
        warps = constants.get("num_warps", 4)
        reason = self.signature.block_reason(constants)
        if not reason and (warps < 1 or warps & (warps - 1) or warps > 32):
            reason = f"num_warps={warps} must be 1, 2, 4, 8, 16 or 32"
        if reason:
            raise BackendError(f"{self.name}: {reason}")

    def _explained(self, error: Exception, constants: Mapping[str, Any]) -> BackendError:
        """One sentence for what Triton or the driver says."""
        said = ", ".join(f"{name}={value}" for name, value in constants.items())
        text = " ".join(str(error).split())
        if type(error).__name__ == "OutOfResources":
            return BackendError(f"{self.name} with {said} needs more than this GPU has: {text}")
        if "active drivers" in text:
            return BackendError(f"{self.name}: Triton finds no driver of a GPU on this machine")
        return BackendError(f"{self.name} with {said}: {type(error).__name__}: {text[-400:]}")


_PLAIN: Final = (torch.Tensor, torch.nn.Parameter)


def _options(constants: Mapping[str, Any]) -> dict[str, Any]:
    return {name: constants[name] for name in OPTIONS if name in constants}


def _reason(parameter: Parameter, value: Any) -> str:
    """Why ``value`` can't be passed for ``parameter``, "" if it can."""
    if parameter.kind == "pointer":
        if value is None:
            return "" if parameter.optional else f"{parameter.name} must be a tensor, not None"
        if not isinstance(value, torch.Tensor):
            return f"{parameter.name} must be a tensor, not {type(value).__name__}"
        if dtype_of(value.dtype) not in parameter.dtypes:
            taken = ", ".join(dtype.__name__ for dtype in parameter.dtypes)
            return f"{parameter.name} has dtype {str(value.dtype).removeprefix('torch.')}, the kernel takes {taken}"
        return ""
    if parameter.kind in ("size", "stride"):
        whole = isinstance(value, int | torch.SymInt) and not isinstance(value, bool)
        return "" if whole else f"{parameter.name} is a {parameter.kind}, so an int, not {type(value).__name__}"
    number = isinstance(value, int | float | torch.SymFloat) and not isinstance(value, bool)
    return "" if number else f"{parameter.name} must be a number, not {type(value).__name__}"


def triton(*, grid: Grid, configs: Sequence[Config] = (), restore: Sequence[str] = ()) -> Callable[[Any], TritonKernel]:
    """Bind a ``@triton.jit`` function whose parameters are annotated.

    Args:
        grid: how many programs run, from the arguments and constants by name.
        configs: values for the constants (and ``num_warps``, ``num_stages``). If there are several, the fastest is
            found at the first launch of its kind (dtypes, sizes up to the next power of two) and kept on disk. One with
            ``"arch": "sm"`` is for the chips whose names begin so.
        restore: parameters that the kernel overwrites and reads, put back between the runs that look for the fastest.

    Returns:
        A decorator that makes a `TritonKernel` of the function.

    Raises:
        BackendError: a parameter without a known annotation, a config with unknown names or impossible sizes.
    """

    def bind(function: Any) -> TritonKernel:
        return TritonKernel(function, grid, configs, restore)

    return bind
