"""Checkpoints that can't be read, or don't fit the model."""

from __future__ import annotations

import re

from simpletorch.errors._failure import Failure
from simpletorch.errors._kinds import CheckpointError
from simpletorch.errors._reasons._table import Reason, message

_KEYS = re.compile(r"(Missing|Unexpected) key\(s\) in state_dict: (.*?)\. *(?:\n|$)")
_SIZE = re.compile(
    r"size mismatch for (\S+): copying a param with shape torch\.Size\(\[([\d, ]*)\]\) from checkpoint, "
    r"the shape in current model is torch\.Size\(\[([\d, ]*)\]\)"
)
_PREFIXES = ("module.", "_orig_mod.", "model.", "_module.")


@message(r"Error\(s\) in loading state_dict for (\w+):\s*((?:.|\n)*)")
def _state_dict(_f: Failure, m: re.Match[str]) -> Reason:
    keys: dict[str, list[str]] = {"Missing": [], "Unexpected": []}
    for found in _KEYS.finditer(m[2]):
        keys[found[1]] += re.findall(r'"([^"]*)"', found[2])
    missing, unexpected = keys["Missing"], keys["Unexpected"]
    mismatched = [(name, f"({has})", f"({wants})") for name, has, wants in _SIZE.findall(m[2])]
    counts = [
        f"{len(what)} {word}"
        for what, word in ((missing, "missing"), (unexpected, "unexpected"), (mismatched, "of another shape"))
        if what
    ]
    details = [f"missing     {name}" for name in missing]
    details += [f"unexpected  {name}" for name in unexpected]
    details += [f"shape       {name}: {has} in the checkpoint, {wants} in the model" for name, has, wants in mismatched]
    if not details:
        details = [" ".join(line.split()) for line in m[2].splitlines() if line.strip()]
    sentence = f"the checkpoint doesn't fit {m[1]}" + (f": {', '.join(counts)}" if counts else "")
    return Reason(
        CheckpointError,
        sentence,
        sorted(missing) or None,
        sorted(unexpected) or None,
        _hint(missing, unexpected, bool(mismatched)),
        details=tuple(details),
        fields={"missing": tuple(missing), "unexpected": tuple(unexpected), "mismatched": tuple(mismatched)},
    )


def _hint(missing: list[str], unexpected: list[str], mismatched: bool) -> str | None:
    for prefix in _PREFIXES:
        if _differ_by(prefix, unexpected, missing):
            return (
                f"the keys carry the prefix {prefix!r}, of a wrapper that the model had when it was saved: "
                f"{{k.removeprefix({prefix!r}): v for k, v in state.items()}}"
            )
        if _differ_by(prefix, missing, unexpected):
            return f"load it into the model inside the wrapper, whose keys lack the prefix {prefix!r}"
    if mismatched:
        return "build the model with the sizes that the checkpoint was saved with"
    return "load_state_dict(..., strict=False) leaves out what only one side has" if missing or unexpected else None


def _differ_by(prefix: str, longer: list[str], shorter: list[str]) -> bool:
    """Whether the keys of one side are those of the other with a prefix."""
    bare = {k.removeprefix(prefix) for k in longer if k.startswith(prefix)}
    return bool(longer) and len(bare) == len(longer) and bare >= set(shorter)


@message(r"Weights only load failed")
def _weights_only(_f: Failure, m: re.Match[str]) -> Reason:
    if re.search(r"Unsupported operand|invalid load key|pickle data was truncated", m.string):
        return Reason(CheckpointError, "the file was not written by torch.save", hint="is it the file that you meant?")
    kind = re.search(r"Unsupported (?:global: GLOBAL|class) ([\w.]+)", m.string)
    what = f": it holds a {kind[1]}" if kind else ""
    return Reason(
        CheckpointError,
        f"the file holds more than tensors{what}, and to load that would run its code",
        hint="save state_dict()s instead of objects; torch.load(..., weights_only=False) only for files that you trust",
    )


@message(r"PytorchStreamReader failed (?:reading|finding|locating)[^:\n]*", r"failed finding central directory")
def _broken_file(_f: Failure, _m: re.Match[str]) -> Reason:
    return Reason(
        CheckpointError,
        "the file is damaged or incomplete: it is no readable torch archive",
        hint="was the program stopped while it saved? Load an earlier checkpoint",
    )
