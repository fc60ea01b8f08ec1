"""`operator`: one annotated function becomes an operator of torch.

::

    @kernels.operator
    def relu_add(x: Float[Tensor, "*n"], y: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
        "relu(x + y)"
        return torch.relu(x + y)
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable
from functools import update_wrapper
from types import FunctionType
from typing import Any, Final, Generic, NoReturn, ParamSpec, Protocol, TypeVar, overload

import torch
from torch._subclasses.fake_tensor import FakeTensor  # its public name is this one

from simpletorch.checks import bordered, config, local_names
from simpletorch.kernels._batching import batching_rule
from simpletorch.kernels._direct import ELSEWHERE, direct_call
from simpletorch.kernels._fake import fake, tensors
from simpletorch.kernels._gradients import Gradient, function_of, register_gradient
from simpletorch.kernels._implementation import fitting, kernel, outside_autocast
from simpletorch.kernels._schema import Signature, read_signature

__all__ = ["Operator", "operator"]

P = ParamSpec("P")
R = TypeVar("R", covariant=True)
F = TypeVar("F", bound=Callable[..., Any])


class Operator(Generic[P, R]):
    """An operator of torch, made by `operator` from an annotated function, its reference.

    Calling it checks the arguments and runs the implementation for their device: one that was given with `cpu`, `cuda`
    or `on`, and the reference where there is none. Inside ``torch.compile``, export and ``torch.vmap`` it is one node,
    whose sizes and dtypes come from the annotation.

    An implementation gets all arguments by position (those after ``*`` by name) and gives new tensors, with autocast
    off. A result that is no new tensor, or not contiguous, is copied.

    Args:
        function: the reference: an annotated function of tensors.
        name: the operator's name in torch, ``"namespace::name"``.
        signature: the parameters and results, read from the annotations of ``function``.
        autocast: the dtype that float tensors are cast to under autocast; None leaves them as they are.

    Examples:
        >>> import torch
        >>> from simpletorch import Float, kernels
        >>> @kernels.operator("docs::second")
        ... def scaled(x: Float[torch.Tensor, "n"], factor: float) -> Float[torch.Tensor, "n"]:
        ...     return factor * x
        >>> isinstance(scaled, kernels.Operator)
        True
    """

    def __init__(
        self, function: Callable[P, R], name: str, signature: Signature, autocast: torch.dtype | None = None
    ) -> None:
        update_wrapper(self, function)
        self.name: Final = name
        self.signature: Final = signature
        self.reference: Final = function
        self.implementations: Final[dict[str, Callable[..., Any]]] = {}
        self.gradient: Gradient = Gradient.of_reference(signature, name, function)
        self.batching: Callable[..., Any] | None = None
        self.bodies: Final[dict[str, Callable[..., Any]]] = {}
        self.body: Final = kernel(signature, name, "reference", function)
        self.unchecked: Callable[..., Any]
        self._traced: dict[str, Callable[..., Any] | None] = {}
        self._is_retired = False
        self._library: torch.library.Library
        self._define(autocast)
        self._call = self._bordered()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Check the arguments and run the implementation for their device.

        Raises:
            TorchError: an argument fails its annotation, or the implementation gives what isn't promised.
        """
        result: R = self._call(*args, **kwargs)
        return result

    @property
    def op(self) -> torch._ops.OpOverload:
        """The operator itself, which takes every argument by position and checks none.

        Raises:
            RuntimeError: its name has been defined once more.
        """
        if self._is_retired:
            self.unchecked()
        return self._op

    def cpu(self, function: F) -> F:
        """Register an implementation for the CPU.

        Args:
            function: the implementation; it takes the parameters of the reference.

        Returns:
            The implementation itself.
        """
        return self.on("cpu")(function)

    @overload
    def cuda(self, function: F, /) -> F: ...
    @overload
    def cuda(self, /, *, traced: bool = False) -> Callable[[F], F]: ...
    def cuda(self, function: Any = None, /, *, traced: bool = False) -> Any:
        """Register an implementation for CUDA (and ROCm, which torch calls CUDA too); ``traced`` as `on` has it.

        Args:
            function: the implementation; it takes the parameters of the reference. None returns a decorator.
            traced: whether ``torch.compile`` sees into the implementation, as for `on`.

        Returns:
            The implementation itself, or a decorator for it.
        """
        register = self.on("cuda", traced=traced)
        return register if function is None else register(function)

    def on(self, device: str, *, traced: bool = False) -> Callable[[F], F]:
        """Register an implementation for a type of device: ``@relu_add.on("mps")``.

        Args:
            device: such as ``"cpu"``, ``"cuda"``, ``"mps"``, ``"xpu"``.
            traced: whether ``torch.compile`` traces into the implementation, to fuse it with the code around it. It
                must then consist of torch's operations and of Triton kernels under `torch.library.wrap_triton`, and
                give contiguous results. Otherwise the operator is one opaque node, as it always is in an export.

        Returns:
            A decorator, which returns the implementation itself.

        Raises:
            ValueError: there is no such type of device.
            TypeError: when it is given a function that can't be called with the operator's parameters.
        """
        if device not in _KEYS:
            raise ValueError(f"{self.name} can't have an implementation on {device!r}; write {', '.join(_KEYS)}")

        def register(function: F) -> F:
            label = f"implementation on {device}"
            self.bodies[device] = kernel(self.signature, self.name, label, function)
            if device not in self.implementations and not self._is_retired:
                # looked up at each call, because torch warns of a kernel that takes the place of another
                short = self.name.partition("::")[2]
                looked_up = outside_autocast(lambda *values: self.bodies[device](*values))
                self._library.impl(short, looked_up, _KEYS[device])
            self.implementations[device] = function
            self._traced[device] = fitting(self.signature, self.name, label, function) if traced else None
            if traced:
                self._trace()
            return function

        return register

    def backward(self, function: F) -> F:
        """Register the gradient. The names of its parameters say what is kept from the forward call for it.

        ::

            @relu_add.backward
            def _(grad, x, y, result):
                kept = grad * (result > 0)
                return kept, kept

        ``grad`` is the gradient of the result (``grads``, a tuple, if there are several), ``result`` (``results``) what
        the call gave, ``needs`` the names of the arguments whose gradient is wanted; the others are arguments. It gives
        one gradient for each tensor that may have one, in order; None is a gradient of zero. Without it the gradient is
        that of the reference, which runs once more (so one that draws random numbers needs a gradient of its own).

        Args:
            function: computes the gradients, as above.

        Returns:
            The function itself.

        Raises:
            TypeError: the operator has no gradient, or a parameter has none of these names.
        """
        self.gradient = Gradient.given(self.signature, self.name, function)
        return function

    def vmap(self, function: F) -> F:
        """Register a batching rule for `torch.vmap`, as `torch.library.register_vmap` takes it.

        Without it an element-wise operator is called once with the whole batch, and another once for each example.

        Args:
            function: takes ``info``, ``in_dims`` and the operator's arguments; returns the results and their batch
                dims.

        Returns:
            The function itself.
        """
        self.batching = function
        return function

    def __reduce__(self) -> str:
        return self.reference.__qualname__

    def __repr__(self) -> str:
        return f"<operator {self.name}{self.signature.schema}>"

    # -- registering ---------------------------------------------------------------------------------------------------

    def _define(self, autocast: torch.dtype | None) -> None:
        namespace, _, short = self.name.partition("::")
        library = self._library = torch.library.Library(namespace, "FRAGMENT")
        library.define(short + self.signature.schema, tags=(torch.Tag.pt2_compliant_tag,))
        self._op: torch._ops.OpOverload = getattr(getattr(torch.ops, namespace), short).default
        library.impl(short, outside_autocast(self.body), _ANY_DEVICE)
        without_values = fitting(self.signature, self.name, "reference", self.reference)
        torch.library.register_fake(
            self.name, lambda *values: fake(self.name, self.signature, without_values, values), lib=library
        )
        register_gradient(self, library)
        torch.library.register_vmap(self.name, batching_rule(self), lib=library)
        if autocast is not None:
            for device in ("cpu", "cuda"):
                torch.library.register_autocast(self.name, device, autocast, lib=library)

    def _trace(self) -> None:
        """Let AOTAutograd see what the implementations do that are traced, as `torch.library.triton_op` does."""
        # private, but what torch.library.triton_op itself is made of; register_torch_dispatch is public
        from torch._subclasses.functional_tensor import FunctionalTensor, FunctionalTensorMode

        known = (torch.Tensor, FunctionalTensor)

        def decompose(mode: Any, op: Any, types: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
            first = next((t for _, t, _ in tensors(self.signature, args)), None)
            function = None if first is None else self._traced.get(first.device.type)
            strange = [t for t in types if t not in known and not issubclass(t, FakeTensor)]
            if function is None or strange or torch.compiler.is_exporting():
                return mode.__torch_dispatch__(op, types, args, kwargs)
            with mode:
                return function(*args)

        torch.library.register_torch_dispatch(self.name, FunctionalTensorMode, decompose, lib=self._library)

    def _bordered(self) -> Callable[..., Any]:
        op, hints, plain = self._op, self.signature.hints, self.signature.plain
        differentiable = function_of(self, batching_rule(self))
        direct = direct_call(self)

        def call(*args: Any, **kwargs: Any) -> Any:
            if torch.compiler.is_dynamo_compiling():
                return op(*args, *kwargs.values())
            values = (*args, *kwargs.values())
            if direct is not None:
                result = direct(values)
                if result is not ELSEWHERE:
                    return result
            # what torch.library registers has a gradient for autograd, but none for torch.func. Private, because
            # torch has no other way to ask what torch.autograd.Function asks in the same words
            if torch._C._are_functorch_transforms_active():
                return differentiable(*values)
            return op(*values)

        self.unchecked = call

        update_wrapper(call, self.reference)
        parameters = [p.replace(annotation=hints[p.name]) for p in plain.parameters.values()]
        # without the result, which the kernels look at, also those in a compiled program
        call.__signature__ = plain.replace(  # type: ignore[attr-defined]
            parameters=parameters, return_annotation=inspect.Signature.empty
        )
        return call if config.check == "off" else bordered(call, {})

    def _retire(self) -> None:
        """Take the operator out of torch's tables, because another one has its name from now on."""
        name = self.name

        def replaced(*_args: Any, **_kwargs: Any) -> NoReturn:
            raise RuntimeError(
                f"{name} has been defined once more, and this is the operator of the earlier definition; build its "
                f'users again, or give each operator a name of its own: @kernels.operator("{name}_2")'
            )

        self._call = self.unchecked = replaced
        # private, but what torch.library.custom_op itself does with a name that is defined again; without it
        # torch.ops has the old operator still, which is memory that has been freed
        self._library._destroy()
        _RETIRED.append(self._library)
        self._is_retired = True


_KEYS: Final = {"cpu": "CPU", "cuda": "CUDA", "mps": "MPS", "xpu": "XPU", "hpu": "HPU", "mtia": "MTIA"}
_ANY_DEVICE: Final = "CompositeExplicitAutograd"
_RESERVED: Final = frozenset(("prim", "prims", "aten", "at", "torch", "pytorch"))

_RETIRED: Final[list[torch.library.Library]] = []
"""Kept, because torch removes from `torch.ops` what has the name when a library is freed, which is another one then."""
_DEFINED: Final[dict[str, Operator[..., Any]]] = {}


class Decorator(Protocol):
    """The result of ``operator("mylib::name")``: it makes an operator of the function below it."""

    def __call__(self, function: Callable[P, R], /) -> Operator[P, R]:
        """The operator."""
        ...


@overload
def operator(function: Callable[P, R], /) -> Operator[P, R]: ...
@overload
def operator(
    name: str | None = None, /, *, mutates: Iterable[str] = (), autocast: torch.dtype | None = None
) -> Decorator: ...
def operator(
    function: Callable[..., Any] | str | None = None,
    /,
    *,
    mutates: Iterable[str] = (),
    autocast: torch.dtype | None = None,
) -> Any:
    """Make an operator of torch from an annotated function, its reference.

    ::

        @kernels.operator
        def relu_add(x: Float[Tensor, "*n"], y: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
            return torch.relu(x + y)

    The annotations give its schema, what it is without values (for ``torch.compile``, export and ``meta``), the check
    of its arguments and of what implementations give, and its type for mypy. Sizes may be computed (``"2*n"``). ``_``
    and names that only the result has are sizes that depend on values.

    A kind of dtypes in the result, such as ``Float``, is the dtype of the first argument annotated with the same kind.
    If the annotation of the result is open (``...``, a plain ``Tensor``), the reference is run to find it.

    Args:
        function: the decorated function, or the operator's name: ``operator("mylib::relu_add")``. By default that is
            the function's, in the namespace of its top package.
        mutates: the parameters that it changes in place.
        autocast: under autocast, float arguments are cast to this dtype. By default they stay what they are.

    Returns:
        The operator: a function with the reference's signature, whose implementations can be registered.

    Raises:
        TypeError: an annotation is missing, or says something that no operator can take or give.
        ValueError: the name is another operator's, or none.

    Examples:
        >>> import torch
        >>> from simpletorch import Float, kernels
        >>> @kernels.operator("docs::first")
        ... def scaled(x: Float[torch.Tensor, "n"], factor: float) -> Float[torch.Tensor, "n"]:
        ...     return factor * x
        >>> scaled(torch.ones(3), 2.0)
        tensor([2., 2., 2.])
    """
    frame = sys._getframe(1)

    def decorate(body: Callable[..., Any]) -> Operator[..., Any]:
        if not isinstance(body, FunctionType):
            raise TypeError(f"operator takes a function, not a {type(body).__name__}")
        name = _name(body) if function is None or callable(function) else function
        signature = read_signature(body, local_names(body, frame), mutates)
        _make_room(name, (body.__module__, body.__qualname__))
        made: Operator[..., Any] = Operator(body, name, signature, autocast)
        _DEFINED[name] = made
        return made

    return decorate(function) if callable(function) else decorate


def _name(function: FunctionType) -> str:
    """The name that torch knows an operator by: package and function."""
    package = re.sub(r"\W", "", function.__module__.partition(".")[0]).strip("_") or "main"  # of "__main__" too
    name = function.__qualname__.replace(".<locals>", "").replace(".", "_")
    return f"{package}::{name}"


def _make_room(name: str, origin: tuple[str, str]) -> None:
    """See to it that an operator can have this name: its own earlier definition loses it (a module that is reloaded).

    Raises:
        ValueError: the name is no name, or another operator has it.
    """
    namespace, colons, short = name.partition("::")
    if not colons or not namespace.isidentifier() or not short.isidentifier():
        raise ValueError(f'{name!r} is no name for an operator; write "package::function"')
    if namespace in _RESERVED:
        raise ValueError(
            f"{name}: {namespace} is a namespace of torch's own; give the operator another, as in "
            f'@kernels.operator("my{namespace}::{short}")'
        )
    earlier = _DEFINED.get(name)
    if earlier is None:
        if hasattr(getattr(torch.ops, namespace), short):
            raise ValueError(f"{name} is an operator that is defined elsewhere; give this one a name of its own")
        return
    if (earlier.reference.__module__, earlier.reference.__qualname__) != origin:
        raise ValueError(
            f"{name} is the operator of {earlier.reference.__module__}.{earlier.reference.__qualname__}; give this one "
            f'a name of its own: @kernels.operator("{namespace}::another_{short}")'
        )
    del _DEFINED[name]
    earlier._retire()
