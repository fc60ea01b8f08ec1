"""Live values as rules have them, for readers before anything fails.

A module of its own, because a face that imported it would load the rules before a failure.
"""

from __future__ import annotations

from simpletorch.errors._lift import lift, public_class, rule_of

__all__ = ["lift", "public_class", "rule_of"]
