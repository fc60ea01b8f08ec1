"""A wheel of simpletorch-typed requires the checker of the same version; an editable install has its files already."""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Checker(BuildHookInterface):
    """Require simpletorch-check, and leave the command ``simpletorch`` to it.

    In ``pyproject.toml`` the requirement would make ``pip install -e .`` look for a package that is in this folder.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Change what hatchling is about to build."""
        if version == "standard":
            build_data["dependencies"].append(f"simpletorch-check=={self.metadata.version}")
            del self.metadata.core.scripts["simpletorch"]
