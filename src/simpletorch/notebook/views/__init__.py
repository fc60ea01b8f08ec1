"""HTML that IPython shows while the extension is loaded: tensors and batches, modules, datasets, epochs, metrics.

Nothing is put on the classes: IPython's own table of formatters has these functions, until the extension is unloaded.
Colours are those of the page (``currentColor``): light and dark are both readable. The plain text stays as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final, TypeAlias

__all__ = ["register"]

View: TypeAlias = Callable[[Any], str | None]


def _tensor(value: Any) -> str | None:
    from simpletorch.notebook.views.tensors import tensor_as_html

    return tensor_as_html(value)


def _module(value: Any) -> str | None:
    from simpletorch.notebook.views.modules import module_as_html

    return module_as_html(value)


def _dataset(value: Any) -> str | None:
    from simpletorch.notebook.views.datasets import dataset_as_html

    return dataset_as_html(value)


def _confusion(value: Any) -> str | None:
    from simpletorch.notebook.views.confusion import confusion_as_html

    return confusion_as_html(value)


def _items(value: Any) -> str | None:
    if "torch" not in sys.modules or not value:
        return None
    from simpletorch.notebook.views.batches import batch_as_html
    from simpletorch.notebook.views.epochs import epochs_as_html

    return (epochs_as_html(value) if isinstance(value, list) else None) or batch_as_html(value)


def _dataset_text(value: Any) -> str | None:
    from simpletorch.notebook.views.datasets import dataset_as_text

    return dataset_as_text(value)


def _confusion_text(value: Any) -> str | None:
    from simpletorch.notebook.views.confusion import confusion_as_text

    return confusion_as_text(value)


_DATASET: Final = ("torch.utils.data.dataset", "Dataset")
_CONFUSION: Final = ("simpletorch.metrics._confusion", "ConfusionMatrix")
_VIEWS: Final = (
    ("torch", "Tensor", _tensor),
    ("torch.nn.modules.module", "Module", _module),
    (*_DATASET, _dataset),
    (*_CONFUSION, _confusion),
    ("builtins", "list", _items),
    ("builtins", "tuple", _items),
    ("builtins", "dict", _items),
)
_TEXTS: Final = ((*_DATASET, _dataset_text), (*_CONFUSION, _confusion_text))


def register(shell: Any) -> Callable[[], None]:
    """Have a shell of IPython show these; gives what has it show them as before."""
    formatters = shell.display_formatter.formatters
    html, plain = formatters["text/html"], formatters["text/plain"]
    before = [(html, module, name, html.for_type_by_name(module, name, _or_own(v))) for module, name, v in _VIEWS]
    before += [(plain, module, name, plain.for_type_by_name(module, name, _or_repr(t))) for module, name, t in _TEXTS]

    def leave() -> None:
        for formatter, module, name, work in before:
            if work is not None:
                formatter.for_type_by_name(module, name, work)
            else:
                formatter.pop(f"{module}.{name}", None)

    return leave


def _or_own(view: View) -> View:
    """The view, but not of a value whose class says itself how it is shown."""

    def shown(value: Any) -> str | None:
        own = getattr(type(value), "_repr_html_", None)
        made: str | None = view(value) if own is None else own(value)
        return made

    return shown


def _or_repr(text: View) -> Callable[[Any, Any, bool], None]:
    """A function for IPython's printer of texts: it prints the text, or the ``repr`` of a value that has its own."""

    def shown(value: Any, printer: Any, cycle: bool) -> None:
        made = None if cycle else text(value)
        printer.text(repr(value) if made is None else made)

    return shown
