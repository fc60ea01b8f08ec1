"""Hooks into a training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from simpletorch.train._fit import Fit


class Callback:
    """Hooks that a `Trainer` calls. Override those that you need; the others cost nothing.

    ::

        class Talk(Callback):
            def on_epoch_end(self, fit: Fit) -> None:
                print(fit.epoch, fit.metrics)

    Every method gets the running `Fit`: it may read everything, change the optimizer's settings, `Fit.log` values for
    the loggers, and end the training with `Fit.stop`. Callbacks are asked in the order in which the `Trainer` has them.

    A callback with ``last = True`` comes after all others: one that saves states, so that theirs include the update.

    One that remembers something overrides `state_dict` and `load_state_dict` too, and goes on after a resume as if
    nothing had happened.

    Examples:
        >>> from simpletorch import data, nn, optim, train
        >>> class Loud(train.Callback):
        ...     def on_epoch_end(self, fit: train.Fit) -> None:
        ...         print("epoch", fit.epoch)
        >>> model = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
        >>> optimizer = optim.AdamW(model.parameters(), lr=0.01)
        >>> loader = data.DataLoader(data.Digits(), batch_size=100)
        >>> settings = {"loss": nn.functional.cross_entropy, "optimizer": optimizer, "progress": False}
        >>> trainer = train.Trainer(**settings, callbacks=[Loud()])
        >>> history = trainer.fit(model, loader, epochs=2)
        epoch 1
        epoch 2
    """

    last: ClassVar[bool] = False
    """Whether to be asked after the callbacks that don't have this."""

    main_only: ClassVar[bool] = False
    """Whether of several processes only the main one asks it: for one that shows or writes, and takes part in nothing
    that all processes do together."""

    def on_fit_start(self, fit: Fit) -> None:
        """Before the first epoch; after a resume ``fit`` has the saved state.

        Args:
            fit: the state of the training.
        """

    def on_epoch_start(self, fit: Fit) -> None:
        """Before the epoch's first batch is asked for: the place for ``sampler.set_epoch(fit.epoch)``.

        Args:
            fit: the state of the training.
        """

    def on_loss(self, fit: Fit) -> None:
        """After each forward pass, before ``backward``: ``fit.batch`` and ``fit.loss`` are this batch's.

        Args:
            fit: the state of the training.
        """

    def on_gradients(self, fit: Fit) -> None:
        """After the ``backward`` that completes an update, before clipping; the gradients are unscaled.

        Args:
            fit: the state of the training.
        """

    def on_step_end(self, fit: Fit) -> None:
        """After each update and the scheduler's step; ``fit.step`` counts them, from 1. A state can be saved here.

        Args:
            fit: the state of the training.
        """

    def on_evaluated(self, fit: Fit) -> None:
        """After each evaluation on the validation batches: ``fit.metrics`` has the results.

        Args:
            fit: the state of the training.
        """

    def on_epoch_end(self, fit: Fit) -> None:
        """After each epoch and its evaluation: ``fit.history[-1]`` has its results. A state can be saved here.

        Args:
            fit: the state of the training.
        """

    def on_fit_end(self, fit: Fit) -> None:
        """After the last epoch, also when something stopped the training.

        Args:
            fit: the state of the training.
        """

    def on_exception(self, fit: Fit, error: BaseException) -> None:
        """When the training ends with an exception, ``KeyboardInterrupt`` included, which is then raised further.

        Args:
            fit: the state of the training.
            error: the exception that ended it.
        """

    def state_dict(self) -> dict[str, Any]:
        """The state to save, as plain data and tensors."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the state that `state_dict` returned.

        Args:
            state: a state that `state_dict` returned.
        """
