"""What IPython shows as HTML while the extension is loaded: tensors, modules, and what epochs came to.

Nothing is put on the classes: IPython's own table of formatters has these functions, until the extension is unloaded.
Colours are those of the page (``currentColor``): light and dark are both readable. The plain text stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

__all__ = ["register"]


def _tensor(value: Any) -> str | None:
    from simpletorch.notebook.views.tensors import tensor_as_html

    return tensor_as_html(value)


def _module(value: Any) -> str | None:
    from simpletorch.notebook.views.modules import module_as_html

    return module_as_html(value)


def _list(value: Any) -> str | None:
    from simpletorch.notebook.views.epochs import epochs_as_html

    return epochs_as_html(value)


_VIEWS: Final = (
    ("torch", "Tensor", _tensor),
    ("torch.nn.modules.module", "Module", _module),
    ("builtins", "list", _list),
)


def register(shell: Any) -> Callable[[], None]:
    """Have a shell of IPython show these; gives what has it show them as before."""
    html = shell.display_formatter.formatters["text/html"]
    before = [(module, name, html.for_type_by_name(module, name, work)) for module, name, work in _VIEWS]

    def leave() -> None:
        for module, name, work in before:
            if work is not None:
                html.for_type_by_name(module, name, work)
            else:
                html.pop(f"{module}.{name}", None)

    return leave
