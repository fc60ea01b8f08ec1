"""Notebooks: cells are followed from live values before they run, and shown with their shapes.

``%load_ext simpletorch`` begins; what is in here imports IPython only then.
"""

from __future__ import annotations

from typing import Any

__all__ = ["load_ipython_extension", "unload_ipython_extension"]


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext simpletorch``: follow each cell of this shell before it runs."""
    from simpletorch.notebook._extension import load_ipython_extension as load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """``%unload_ext simpletorch``: leave the shell as it was."""
    from simpletorch.notebook._extension import unload_ipython_extension as unload

    unload(shell)
