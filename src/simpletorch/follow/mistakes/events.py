"""The events in a program to which mistakes listen. The core tells, and names no mistake.

A listener that gives an answer refuses: the answer stands in the place of the program's own result, and later listeners
aren't asked.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, ParamSpec, TypeAlias

from simpletorch.follow.values import Class, Function, Instance, Native, Tensor, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter
    from simpletorch.follow.libraries import Model
    from simpletorch.follow.model.scopes import Scope
    from simpletorch.follow.values import Last
    from simpletorch.rules import ModuleRule

__all__ = [
    "ARRAY",
    "ASSIGN",
    "ATTRIBUTE",
    "BACKWARD",
    "CALL",
    "CHANGE",
    "CHOICE",
    "CLASS_METHOD",
    "CLIP",
    "CONSTRUCT",
    "DATA",
    "DECLARED",
    "END",
    "HELD",
    "INDEX",
    "IN_THE_DARK",
    "ITEM",
    "LACKS",
    "LAST_BATCH",
    "LAYER",
    "LAYER_MADE",
    "LAYER_OPERANDS",
    "LOADER",
    "LOOP",
    "METHOD",
    "MISFIT",
    "MODE",
    "MODEL_MISFIT",
    "MODULE",
    "NO_FORWARD",
    "NO_ITEMS",
    "NO_ITERATOR",
    "NO_MANAGER",
    "NO_NAME",
    "OPERANDS",
    "OPERATION",
    "OPERATOR",
    "OPTIMIZER",
    "OPTIONS",
    "PARAMETERS",
    "PART",
    "RESHAPE",
    "SCALE",
    "SCALED_STEP",
    "SCALER",
    "SCALER_UPDATE",
    "SCALING",
    "SCHEDULE",
    "SCHEDULER",
    "SEED",
    "SPLIT",
    "STATEMENT",
    "STEP",
    "SUM",
    "UNCALLABLE",
    "UNITERABLE",
    "UNKNOWN",
    "UNSCALE",
    "ZERO",
    "Event",
    "OfOperations",
    "Subscription",
    "subscribe",
]

P = ParamSpec("P")
Args: TypeAlias = tuple[Value, ...]
Kwargs: TypeAlias = Mapping[str, Value]


class Subscription(NamedTuple):
    """A listener of an event."""

    event: Event[Any] | OfOperations[Any]
    listener: Callable[..., Any]


class Event(Generic[P]):
    """One kind of event."""

    __slots__ = ("listeners",)

    def __init__(self) -> None:
        self.listeners: tuple[Callable[P, Value], ...] = ()

    def to(self, listener: Callable[P, Value]) -> Subscription:
        """A function that is to be called each time."""
        return Subscription(self, listener)

    def add(self, listener: Callable[P, Value]) -> None:
        """The last that is called."""
        self.listeners = (*self.listeners, listener)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Value:
        """It happens: the answer of the first listener that refuses, None where none does."""
        for listener in self.listeners:
            answer = listener(*args, **kwargs)
            if answer is not None:
                return answer
        return None


class OfOperations(Generic[P]):
    """Events of torch's operations. The listeners to an operation are found once, by its public name."""

    __slots__ = ("makers",)

    def __init__(self) -> None:
        self.makers: tuple[Callable[[str], Callable[P, Value] | None], ...] = ()

    def to(self, maker: Callable[[str], Callable[P, Value] | None]) -> Subscription:
        """A function that gives the listener to an operation, None where nothing is to be said of it."""
        return Subscription(self, maker)

    def add(self, maker: Callable[[str], Callable[P, Value] | None]) -> None:
        """The last that is asked."""
        self.makers = (*self.makers, maker)

    def of(self, name: str) -> Event[P]:
        """The event of the operation of this name."""
        event: Event[P] = Event()
        event.listeners = tuple(listener for make in self.makers if (listener := make(name)) is not None)
        return event


def subscribe(subscriptions: Iterable[Subscription]) -> None:
    """The listeners of a mistake are called behind those of the mistakes before it."""
    for event, listener in subscriptions:
        event.add(listener)


# -- calls -------------------------------------------------------------------------------------------------------------

MISFIT: Final[Event[[Interpreter, Function, Args, Kwargs]]] = Event()
"""A function of the program, or of a stub, is given arguments that don't fit it."""
MODEL_MISFIT: Final[Event[[Interpreter, Model, Args, Kwargs]]] = Event()
"""The same of a library's function."""
BATCH: Final[Event[[Interpreter, Instance, Args, Kwargs]]] = Event()
"""A module is to be called with the inputs of a batch: the answer is why its ``forward`` doesn't take them."""
CALL: Final[Event[[Interpreter, str, Args, Kwargs]]] = Event()
"""A function of a library is called, in a pure function."""
UNCALLABLE: Final[Event[[Interpreter, Value, Args, Kwargs]]] = Event()
"""A value is called that is no function, class or object."""
METHOD: Final[Event[[Interpreter, str, Value]]] = Event()
"""A method of a value is called, in a pure function."""
UNKNOWN: Final[Event[[Interpreter, Value]]] = Event()
"""A function that isn't known is called, in a pure function."""
IN_THE_DARK: Final[Event[[Interpreter]]] = Event()
"""Code that isn't followed has a tensor."""

# -- names, attributes and items ---------------------------------------------------------------------------------------

DECLARED: Final[Event[[Interpreter, str, dict[str, Value]]]] = Event()
"""A name of another scope is assigned, in a pure function."""
CHANGE: Final[Event[[Interpreter, Value]]] = Event()
"""Something writes to a value, in a pure function."""
ATTRIBUTE: Final[Event[[Interpreter, Value, str]]] = Event()
"""An attribute is read of which it isn't known whether it is there."""
LACKS: Final[Event[[Interpreter, Value, str]]] = Event()
"""An attribute is read that surely isn't there."""
NO_MANAGER: Final[Event[[Interpreter, Value]]] = Event()
"""A value in the head of ``with`` has no ``__enter__``, or none that is known."""
NO_NAME: Final[Event[[Interpreter, str, str, str]]] = Event()
"""A name of a library's module isn't known: the module, the name, and the exception if it isn't there."""
CLASS_METHOD: Final[Event[[Interpreter, Class, Native]]] = Event()
"""A method of modules is read from their class; an answer is another method."""
ASSIGN: Final[Event[[Interpreter, Instance, str, Value]]] = Event()
"""An attribute of an object is assigned."""
SUM: Final[Event[[Interpreter, ast.expr, Value]]] = Event()
"""``name += value``."""
ITEM: Final[Event[[Interpreter, Instance]]] = Event()
"""An object is indexed."""
NO_ITEMS: Final[Event[[Interpreter, Value, Value]]] = Event()
"""A value that is no collection, array or object is indexed."""
NO_ITERATOR: Final[Event[[Interpreter, Value]]] = Event()
"""``next`` is given a value that is no iterator which the follower knows."""
UNITERABLE: Final[Event[[Interpreter, Value]]] = Event()
"""A value is gone over."""
INDEX: Final[Event[[Interpreter, Value, Value]]] = Event()
"""A sequence of Python's is indexed."""
STATEMENT: Final[Event[[Interpreter, ast.Attribute, Value]]] = Event()
"""An attribute is a statement of its own."""
LOOP: Final[Event[[Interpreter, ast.AST, Value, "tuple[Value, ...] | None"]]] = Event()
"""A loop begins: over what, and its items where these are known."""

# -- operations and layers ---------------------------------------------------------------------------------------------

OPERATOR: Final[Event[[Interpreter, str, Value, Value]]] = Event()
"""An operator of a tensor, or of several tensors in a tuple: its method, and both sides."""
OPERANDS: Final[OfOperations[[Interpreter, Args, Kwargs]]] = OfOperations()
"""An operation of torch's is given these."""
OPERATION: Final[OfOperations[[Interpreter, Args, Kwargs, Value]]] = OfOperations()
"""An operation of torch's has given the last."""
RESHAPE: Final[Event[[Interpreter, Value, Value]]] = Event()
"""An array has got another shape."""
ARRAY: Final[Event[[Interpreter, Value]]] = Event()
"""``torch.from_numpy`` is given this."""
DATA: Final[Event[[Interpreter, Value]]] = Event()
"""``torch.tensor`` is given a value."""
MODULE: Final[Event[[Interpreter, Instance]]] = Event()
"""A module is called."""
NO_FORWARD: Final[Event[[Interpreter, Instance]]] = Event()
"""A module is called whose ``forward`` isn't there, or isn't known."""
CONSTRUCT: Final[Event[[Interpreter, Instance, "tuple[Any, Class]", Args, Kwargs]]] = Event()
"""A module is made, by the constructor that was found in that class."""
OPTIONS: Final[Event[[Interpreter, str, Kwargs]]] = Event()
"""A layer of torch's is given these, by name."""
LAYER_MADE: Final[Event[[Interpreter, Instance, ModuleRule]]] = Event()
"""A layer of torch's is made."""
HELD: Final[Event[[Interpreter, Instance, Value]]] = Event()
"""A container of modules is given a value; an answer stands in its place."""
LAYER_OPERANDS: Final[Event[[Interpreter, Instance, "ModuleRule | None", Args, Kwargs]]] = Event()
"""A layer of torch's is called; None: its sizes aren't known."""
LAYER: Final[Event[[Interpreter, Instance, str, ModuleRule, Args, Kwargs]]] = Event()
"""A layer of torch's has taken its arguments."""
CHOICE: Final[Event[[Interpreter, str, Value]]] = Event()
"""A distribution over classes is made of these probabilities or logits."""

# -- training ----------------------------------------------------------------------------------------------------------

PARAMETERS: Final[Event[[Interpreter, Instance, Value]]] = Event()
"""An optimizer is given parameters."""
OPTIMIZER: Final[Event[[Interpreter, Instance]]] = Event()
"""An optimizer is made."""
BACKWARD: Final[Event[[Interpreter, Tensor]]] = Event()
"""``backward`` has gone through a loss."""
CLIP: Final[Event[[Interpreter, str]]] = Event()
"""Gradients are clipped, by the function of this name."""
STEP: Final[Event[[Interpreter, Value, bool]]] = Event()
"""An optimizer makes a step; it may call a function that computes the gradients."""
ZERO: Final[Event[[Interpreter, Value]]] = Event()
"""The gradients of an optimizer, or of a model, are set to zero."""
SCHEDULER: Final[Event[[Interpreter, Instance, dict[str, Value]]]] = Event()
"""A scheduler is made."""
SCHEDULE: Final[Event[[Interpreter, Value]]] = Event()
"""A scheduler makes a step."""
SCALER: Final[Event[[Interpreter, Instance]]] = Event()
"""A `GradScaler` is made."""
SCALING: Final[Event[[Interpreter, Instance]]] = Event()
"""It is given a loss to scale."""
SCALE: Final[Event[[Interpreter, Instance, Tensor]]] = Event()
"""It has scaled a loss."""
UNSCALE: Final[Event[[Interpreter, Instance, Value]]] = Event()
"""It unscales the gradients of an optimizer."""
SCALED_STEP: Final[Event[[Interpreter, Instance, Value]]] = Event()
"""It lets an optimizer step."""
SCALER_UPDATE: Final[Event[[Interpreter, Instance]]] = Event()
"""It chooses its next scale."""
MODE: Final[Event[[Interpreter, Instance, Value]]] = Event()
"""``module.train()``, ``module.eval()``: whether it trains."""
SEED: Final[Event[[Interpreter, Value]]] = Event()
"""``torch.manual_seed``."""

# -- data --------------------------------------------------------------------------------------------------------------

PART: Final[Event[[Interpreter, Value, Instance]]] = Event()
"""A subset of a data set, or a sampler of some samples, is made."""
SPLIT: Final[Event[[Interpreter, Value, "tuple[Value, ...]"]]] = Event()
"""``random_split``: the whole, and its parts."""
LOADER: Final[Event[[Interpreter, Value, Kwargs]]] = Event()
"""A loader of a data set is made, with these arguments by name."""
LAST_BATCH: Final[Event[[Interpreter, ast.AST, "Scope", "Last", Callable[[], None]]]] = Event()
"""A loop has come to its last batch, which is smaller; the function follows a round with it."""

END: Final[Event[[Interpreter]]] = Event()
"""The program has ended."""
