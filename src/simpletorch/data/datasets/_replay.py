"""Replay buffers: the last transitions of an agent, to learn from in random batches."""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, cast, get_args

import numpy as np
import torch
from typing_extensions import TypeVar

from simpletorch.data._dataset import Dataset
from simpletorch.data.datasets._sum_tree import SumTree
from simpletorch.dtypes import Float32, Int64
from simpletorch.errors import DataError, DTypeMismatch, ShapeMismatch
from simpletorch.tensor import Tensor


class Transition(NamedTuple):
    """One step of an agent, as `ReplayBuffer.push` keeps it.

    Attributes:
        state: the observation before the action.
        action: the action that was taken.
        reward: the reward for it.
        next_state: the observation after the action.
        done: whether the episode ended with it.

    Examples:
        >>> import torch
        >>> from simpletorch import data
        >>> state, action, reward, done = torch.zeros(4), torch.tensor(1), torch.tensor(1.0), torch.tensor(False)
        >>> data.Transition(state, action, reward, next_state=state, done=done).reward
        tensor(1.)
    """

    state: torch.Tensor
    action: torch.Tensor
    reward: torch.Tensor
    next_state: torch.Tensor
    done: torch.Tensor


T = TypeVar("T", bound=tuple[Any, ...], default=Transition)


class ReplayBuffer(Dataset[T], Generic[T]):
    """The last ``capacity`` transitions: when it is full, a new one takes the place of the oldest.

    A transition is a tuple, best a NamedTuple, of tensors or numbers; the first one decides dtypes and shapes::

        class Transition(NamedTuple):
            state: Tensor[Float32, 4]
            action: Tensor[Int64]
            reward: Tensor[Float32]
            next_state: Tensor[Float32, 4]
            done: Tensor[Bool]

        buffer = ReplayBuffer[Transition](10_000)
        buffer.add(Transition(...))
        batch = buffer.sample(64)  # a Transition whose fields have 64 in front: state is Float32 [64, 4]

    Fields are kept in one tensor each, so that a batch is one indexing operation a field.

    Args:
        capacity: how many transitions it holds.
        device: where they are kept, and batches come from.
        generator: where `sample` draws from; None: torch's global generator.

    Raises:
        DataError: a capacity below 1; a transition that is no tuple or has other fields than the first.
        ShapeMismatch, DTypeMismatch: a field of another shape or dtype than in the first.
        IndexError: there is no transition of this number.

    Examples:
        >>> import torch
        >>> from simpletorch import data
        >>> state, action, reward, done = torch.zeros(4), torch.tensor(1), torch.tensor(1.0), torch.tensor(False)
        >>> memory = data.ReplayBuffer(1000)
        >>> for _ in range(8):
        ...     memory.push(state, action, reward, state, done)
        >>> memory.sample(5).state.shape
        torch.Size([5, 4])

    Source: Lin 1992, "Self-improving reactive agents"; Mnih et al. 2015, https://doi.org/10.1038/nature14236
    """

    def __init__(
        self,
        capacity: int,
        *,
        device: torch.device | str = "cpu",
        generator: torch.Generator | None = None,
    ) -> None:
        if capacity < 1:
            raise DataError(f"capacity is {capacity}: a ReplayBuffer holds at least one transition")
        self.capacity, self.device, self.generator = capacity, torch.device(device), generator
        self._kind: type[Any] = tuple
        self._columns: list[torch.Tensor] = []
        self._size = 0
        self._next = 0

    def __len__(self) -> int:
        return self._size

    def add(self, transition: T) -> None:
        """Put in one transition.

        Args:
            transition: a tuple or named tuple of tensors or numbers, of the same shapes and dtypes each time.
        """
        self.extend(self._made([torch.as_tensor(value).unsqueeze(0) for value in self._fields(transition)], transition))

    def push(self, *fields: Any) -> None:
        """Put in one transition by its fields: ``buffer.push(state, action, reward, next_state, done)``.

        They make a transition of the class that the buffer holds, ``ReplayBuffer[Mine](1000)``; without one, five
        fields make a `Transition`, and any other number a plain tuple.

        Args:
            fields: the fields of one transition in order, each a tensor, an array or a number.
        """
        stated = get_args(getattr(self, "__orig_class__", None))  # set by ``ReplayBuffer[Mine](...)``
        kind = self._kind if self._columns or not stated else stated[0]
        if not self._columns and not hasattr(kind, "_fields") and len(fields) == len(Transition._fields):
            kind = Transition
        if not hasattr(kind, "_fields"):
            self.add(cast("T", fields))
        elif len(fields) == len(kind._fields):
            self.add(cast("T", kind(*fields)))
        else:
            raise DataError(
                f"push got {len(fields)} fields, but a {kind.__name__} has {len(kind._fields)}: "
                + ", ".join(kind._fields)
            )

    def extend(self, transitions: Any) -> None:
        """Put in several at once: a transition whose fields are ``[n, *S]``, as from n environments, oldest first.

        Args:
            transitions: a tuple or named tuple of tensors ``[n, *S]``.
        """
        values = [torch.as_tensor(value) for value in self._fields(transitions)]
        names = self._names(transitions)
        count = self._count(values, names)
        if not self._columns:
            self._kind = type(transitions)
            self._columns = [
                torch.zeros(self.capacity, *value.shape[1:], dtype=value.dtype, device=self.device) for value in values
            ]
        self._check(values, names)
        rows = (self._next + torch.arange(count)) % self.capacity
        kept = slice(max(0, count - self.capacity), None)  # of more than fit, the last ones
        for column, value in zip(self._columns, values, strict=True):
            column[rows[kept].to(self.device)] = value[kept].detach().to(self.device)
        self._added(rows[kept])
        self._next = (self._next + count) % self.capacity
        self._size = min(self.capacity, self._size + count)

    def sample(self, batch_size: int) -> Any:
        """``batch_size`` transitions drawn uniformly, with replacement: fields ``[batch_size, *S]``.

        Args:
            batch_size: the number of transitions to draw.

        Raises:
            DataError: nothing has been put in yet.
        """
        self._check_filled(batch_size)
        return self._rows(torch.randint(self._size, (batch_size,), generator=self.generator))

    def __getitem__(self, index: int) -> T:
        """Transition ``index``, counted from the oldest."""
        if not -self._size <= index < self._size:
            raise IndexError(f"transition {index} of {self._size}")
        oldest = self._next if self._size == self.capacity else 0
        row = (oldest + index % self._size) % self.capacity
        return self._made([column[row].clone() for column in self._columns])

    def __getitems__(self, indices: list[int]) -> list[T]:
        """The transitions at ``indices``, as loaders ask for a batch of them."""
        return [self[index] for index in indices]

    def state_dict(self) -> dict[str, Any]:
        """Everything in it, and the generator's state: tensors and numbers, for a checkpoint."""
        return {
            "capacity": self.capacity,
            "columns": [column[: self._size].clone() for column in self._columns],
            "next": self._next,
            "generator": None if self.generator is None else self.generator.get_state(),
        }

    def load_state_dict(self, state: dict[str, Any], like: type[T] | None = None) -> None:
        """Restore the state that `state_dict` returned.

        Args:
            state: a state that `state_dict` returned, of a buffer with the same capacity.
            like: the class of transitions, if none has been put in here yet; a plain tuple otherwise.

        Raises:
            DataError: it is of a buffer with another capacity.
        """
        if state["capacity"] != self.capacity:
            raise DataError(f"the state is of a buffer of {state['capacity']}, but this one holds {self.capacity}")
        if like is not None:
            self._kind = like
        self._columns = []
        for saved in state["columns"]:
            column = torch.zeros(self.capacity, *saved.shape[1:], dtype=saved.dtype, device=self.device)
            column[: len(saved)] = saved
            self._columns.append(column)
        self._size = len(state["columns"][0]) if state["columns"] else 0
        self._next = state["next"]
        if self.generator is not None and state["generator"] is not None:
            self.generator.set_state(state["generator"])

    def _added(self, rows: torch.Tensor) -> None:
        """Hear of new transitions."""

    def _check_filled(self, batch_size: int) -> None:
        if not self._size:
            raise DataError("the ReplayBuffer is empty: add transitions before you sample")
        if batch_size < 1:
            raise DataError(f"batch_size is {batch_size}: a batch has at least one transition")

    def _rows(self, rows: torch.Tensor) -> T:
        return self._made([column[rows.to(self.device)] for column in self._columns])

    def _made(self, values: list[torch.Tensor], like: Any = None) -> T:
        kind = self._kind if like is None else type(like)
        return cast("T", kind(*values) if hasattr(kind, "_fields") else tuple(values))

    def _fields(self, transition: Any) -> tuple[Any, ...]:
        if not isinstance(transition, tuple) or not transition:
            raise DataError(
                f"a transition is a tuple of tensors or numbers, but got a {type(transition).__name__}",
                hint="define one with typing.NamedTuple: state, action, reward, next_state, done",
            )
        if self._columns and len(transition) != len(self._columns):
            raise DataError(f"this transition has {len(transition)} fields, but the first had {len(self._columns)}")
        return transition

    def _names(self, transition: Any) -> tuple[str, ...]:
        return tuple(getattr(type(transition), "_fields", [str(i) for i in range(len(transition))]))

    def _count(self, values: list[torch.Tensor], names: tuple[str, ...]) -> int:
        lengths = {name: len(value) if value.ndim else None for name, value in zip(names, values, strict=True)}
        if None in lengths.values() or len(set(lengths.values())) > 1:
            raise ShapeMismatch(
                "[n, *S]",
                lengths,
                "the fields of several transitions must have their number in front, but these have "
                + ", ".join(f"{name}: {length}" for name, length in lengths.items()),
            )
        return len(values[0])

    def _check(self, values: list[torch.Tensor], names: tuple[str, ...]) -> None:
        for name, value, column in zip(names, values, self._columns, strict=True):
            if value.shape[1:] != column.shape[1:]:
                raise ShapeMismatch(
                    list(column.shape[1:]),
                    list(value.shape[1:]),
                    f"field {name!r} has shape {list(value.shape[1:])}, but {list(column.shape[1:])} "
                    "in the first transition",
                )
            if value.dtype != column.dtype:
                raise DTypeMismatch(
                    column.dtype,
                    value.dtype,
                    f"field {name!r} is {value.dtype}, but {column.dtype} in the first transition",
                )


class Prioritized(NamedTuple):
    """A sample of a `PrioritizedReplayBuffer`.

    Examples:
        >>> import torch
        >>> from simpletorch import data
        >>> state, action, reward, done = torch.zeros(4), torch.tensor(1), torch.tensor(1.0), torch.tensor(False)
        >>> memory = data.PrioritizedReplayBuffer(1000)
        >>> for _ in range(8):
        ...     memory.push(state, action, reward, state, done)
        >>> batch, indices, weights = memory.sample(5)
        >>> indices.shape, weights.shape
        (torch.Size([5]), torch.Size([5]))
    """

    batch: Any
    """The transitions: fields ``[n, *S]``."""
    indices: Tensor[Int64, Any]
    """Where they are kept, Int64 ``[n]``, for `PrioritizedReplayBuffer.update`."""
    weights: Tensor[Float32, Any]
    """Importance-sampling weights, Float32 ``[n]``; the largest possible one is 1."""


class PrioritizedReplayBuffer(ReplayBuffer[T]):
    """A `ReplayBuffer` that draws transitions in proportion to ``priority ** alpha``.

    A new transition has the highest priority there has been, so each is learned from soon. After each step of learning,
    ``update(indices, errors)`` sets the priorities to the sizes of the errors::

        batch, indices, weights = buffer.sample(64)
        errors = ...
        (weights * errors.square()).mean().backward()
        buffer.update(indices, errors)

    Args:
        capacity: how many transitions it holds.
        alpha: 0 draws uniformly, 1 in full proportion.
        beta: 0 doesn't correct for the uneven drawing, 1 does so fully; set it as learning goes on.
        epsilon: added to each priority, so that none is 0.
        device: where transitions are kept, and batches come from.
        generator: where `sample` draws from; None: torch's global generator.

    Raises:
        DataError: ``alpha``, ``beta`` or ``epsilon`` is out of its range; also as for `ReplayBuffer`.
        IndexError: there is no transition of this number.

    Examples:
        >>> import torch
        >>> from simpletorch import data
        >>> state, action, reward, done = torch.zeros(4), torch.tensor(1), torch.tensor(1.0), torch.tensor(False)
        >>> memory = data.PrioritizedReplayBuffer(1000)
        >>> for _ in range(8):
        ...     memory.push(state, action, reward, state, done)
        >>> drawn = memory.sample(5)
        >>> drawn.batch.state.shape
        torch.Size([5, 4])
        >>> memory.update(drawn.indices, torch.ones(5))

    Source: Schaul et al. 2015, "Prioritized experience replay", https://arxiv.org/abs/1511.05952
    """

    def __init__(
        self,
        capacity: int,
        *,
        alpha: float = 0.6,
        beta: float = 0.4,
        epsilon: float = 1e-6,
        device: torch.device | str = "cpu",
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(capacity, device=device, generator=generator)
        if alpha < 0 or not 0 <= beta <= 1 or epsilon <= 0:
            raise DataError(
                f"alpha is {alpha}, beta is {beta}, epsilon is {epsilon}: "
                "alpha must not be negative, beta lies between 0 and 1, epsilon must be positive"
            )
        self.alpha, self.beta, self.epsilon = alpha, beta, epsilon
        self._tree = SumTree(capacity)
        self._highest = 1.0

    def _added(self, rows: torch.Tensor) -> None:
        self._tree[rows.numpy()] = np.full(len(rows), self._highest)

    def sample(self, batch_size: int) -> Prioritized:
        """``batch_size`` transitions by priority: one from each of as many equal shares of all priorities.

        Args:
            batch_size: the number of transitions to draw.

        Raises:
            DataError: nothing has been put in yet.
        """
        self._check_filled(batch_size)
        places = torch.arange(batch_size) + torch.rand(batch_size, dtype=torch.float64, generator=self.generator)
        rows = self._tree.find((places * (self._tree.total / batch_size)).numpy())
        shares = self._tree[rows] / self._tree.total
        lowest = self._tree[np.arange(self._size)].min() / self._tree.total
        weights = torch.from_numpy((shares / lowest) ** -self.beta).to(self.device, torch.float32)
        indices = torch.from_numpy(rows)
        return Prioritized(self._rows(indices), indices, weights)

    def update(self, indices: torch.Tensor, errors: torch.Tensor) -> None:
        """Set the priorities of sampled transitions to ``|errors| + epsilon``.

        Args:
            indices: Int64 ``[n]``, as `sample` gave them.
            errors: ``[n]``, such as temporal-difference errors; their signs don't matter.

        Raises:
            ShapeMismatch: there are not as many errors as indices.
            DataError: an index of no transition, or an error that is not finite.
        """
        if indices.shape != errors.shape or indices.ndim != 1:
            raise ShapeMismatch(
                list(indices.shape),
                list(errors.shape),
                f"update takes one error for each index, but got {list(errors.shape)} and {list(indices.shape)}",
            )
        priorities = (errors.detach().abs().double().cpu().numpy() + self.epsilon) ** self.alpha
        rows = indices.cpu().numpy()
        if not np.isfinite(priorities).all():
            raise DataError("an error is not finite: its transition could never be drawn in proportion")
        if len(rows) and not 0 <= rows.min() <= rows.max() < self._size:
            raise DataError(f"indices go from {rows.min()} to {rows.max()}, but there are {self._size} transitions")
        if len(rows):
            self._highest = max(self._highest, float(priorities.max()))
            self._tree[rows] = priorities

    def state_dict(self) -> dict[str, Any]:
        """Everything in it, its priorities too."""
        return {**super().state_dict(), "priorities": self._tree.state(), "highest": self._highest}

    def load_state_dict(self, state: dict[str, Any], like: type[T] | None = None) -> None:
        """Restore the state that `state_dict` returned, priorities too."""
        super().load_state_dict(state, like)
        self._tree.load(state["priorities"])
        self._highest = state["highest"]
