"""Asks torch what autocast does to each operation: ``python -m tests.oracle.autocast`` writes the table.

On the CPU operations run; on CUDA, where there is none, on fake tensors, which torch dispatches as it does real ones.
"""

from __future__ import annotations

import contextlib
import logging
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from simpletorch.rules import MODULES, RULES, Report, TensorType, infer, infer_module
from simpletorch.rules.core import autocast_table
from simpletorch.rules.core.autocast import Autocast, Policy
from simpletorch.rules.core.values import Many, Named
from tests.oracle.modules import Case, build, cases, torch_class
from tests.oracle.samples import samples
from tests.oracle.truth import UNCHECKED, lift, lift_dtype, resolve, tensors_in, tree_map
from tests.oracle.verdict import Call, compare_dtypes, lift_arguments

LOWER = {"cpu": torch.bfloat16, "cuda": torch.float16}
POLICIES: tuple[Policy, ...] = ("none", "lower", "float32", "widest")


@contextlib.contextmanager
def under_autocast(device: str) -> Iterator[Callable[[torch.Tensor], torch.Tensor]]:
    """Autocast of ``device`` in force, with what puts a tensor there."""
    faked = device == "cuda" and not torch.cuda.is_available()
    mode = FakeTensorMode(allow_non_fake_inputs=True) if faked else contextlib.nullcontext()
    with mode, warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        # not torch.autocast("cuda"): that turns itself off on a machine without a GPU
        torch.set_autocast_enabled(device, True)
        torch.set_autocast_dtype(device, LOWER[device])
        torch.set_autocast_cache_enabled(False)  # what it keeps of fake parameters outlives them
        try:
            yield _fake if faked else lambda tensor: tensor.clone().to(device)
        finally:
            torch.set_autocast_enabled(device, False)
            torch.set_autocast_cache_enabled(True)


def _fake(tensor: torch.Tensor) -> torch.Tensor:
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="cuda")


def mixtures(values: Any, lower: torch.dtype) -> Iterator[Any]:
    """The values with their float32 tensors as they are, all lower, only the first lower, all but the first lower."""
    floats = [i for i, t in enumerate(tensors_in(values)) if t.dtype == torch.float32]
    chosen = {(), tuple(floats), tuple(floats[:1]), tuple(floats[1:])}
    for which in sorted(chosen):
        place = iter(range(10_000))
        yield tree_map(lambda t, which=which, place=place: t.to(lower) if next(place) in which else t, values)


@dataclass
class Trial:
    """A call under autocast: the rule's names, how the rule is asked under a policy, and what torch gave."""

    names: tuple[str, ...]
    ask: Callable[[Autocast], Any]
    truth: Any

    def agrees(self, autocast: Autocast) -> bool:
        """Whether a rule that is asked so says what torch did."""
        answer = self.ask(autocast)
        return not isinstance(answer, Report) and dtypes_agree(answer, self.truth)


def dtypes_agree(answer: Any, truth: Any) -> bool:
    """Whether each dtype that the answer knows is torch's."""
    match answer, truth:
        case TensorType(), TensorType():
            return compare_dtypes(answer.dtype, truth.dtype) != "wrong"
        case Many(), tuple():
            return all(dtypes_agree(answer.item, t) for t in truth)
        case Named(), Named():
            return all(dtypes_agree(a, t) for (_, a), (_, t) in zip(answer.fields, truth.fields, strict=False))
        case tuple(), tuple():
            return all(dtypes_agree(a, t) for a, t in zip(answer, truth, strict=False))
    return True


def trials_of(call: Call, device: str) -> Iterator[Trial]:
    """The call under autocast, with its floats mixed."""
    if UNCHECKED.search(call.name):
        return
    for args, kwargs in mixtures((call.args, dict(call.kwargs)), LOWER[device]):
        with under_autocast(device) as put:
            try:
                torch.manual_seed(0)
                truth = lift(resolve(call.name)(*tree_map(put, args), **tree_map(put, kwargs)))
            except Exception:  # torch refuses the mixture, or can't fake it: nothing is learnt
                continue
        given = lift_arguments(call.name, args), {k: lift(v) for k, v in kwargs.items()}

        def ask(autocast: Autocast, name: str = call.name, given: Any = given) -> Any:
            return infer(name, *given, autocast=autocast)

        yield Trial((call.name,), ask, truth)


def trials_of_module(case: Case, device: str) -> Iterator[Trial]:
    """A module's call under autocast; its parameters stay float32."""
    rule = build(case.name, case.args, case.kwargs)
    if rule is None or isinstance(rule, Report):
        return
    for inputs, named in mixtures((case.inputs, case.input_kwargs), LOWER[device]):
        with under_autocast(device) as put:
            try:
                torch.manual_seed(0)
                module = torch_class(case.name)(*case.args, **case.kwargs)
                module = module._apply(put)
                truth = lift(module(*tree_map(put, inputs), **tree_map(put, named)))
            except Exception:
                continue
        given = [lift(v) for v in inputs], {k: lift(v) for k, v in named.items()}

        def ask(autocast: Autocast, rule: Any = rule, given: Any = given) -> Any:
            return infer_module(rule, *given, autocast=autocast)

        yield Trial(rule.names, ask, truth)


@contextlib.contextmanager
def _everywhere(policy: Policy, device: str) -> Iterator[None]:
    """The table with one policy for all names."""
    kept = dict(autocast_table.TABLE)
    autocast_table.TABLE[device] = {} if policy == "none" else {policy: _All()}
    try:
        yield
    finally:
        autocast_table.TABLE.update(kept)


class _All(frozenset[str]):
    def __contains__(self, name: object) -> bool:
        return True


def possible(trials: Iterable[Trial], device: str) -> list[Policy]:
    """The policies under which the rule says what torch did in each trial."""
    autocast = Autocast(device, lift_dtype(LOWER[device]))
    held = []
    listed = list(trials)
    for policy in POLICIES:
        with _everywhere(policy, device):
            if all(t.agrees(autocast) for t in listed):
                held.append(policy)
    return held


def found(device: str, select: Callable[[Sequence[str]], bool] = lambda names: True) -> dict[str, Policy]:
    """The policy of each name that has samples."""
    by_name: dict[str, list[Trial]] = {}
    for call in samples(select, dtypes=(torch.float32,), count=16):
        by_name.setdefault(call.name, []).extend(trials_of(call, device))
    for case in cases():
        if select((case.name,)):
            for trial in trials_of_module(case, device):
                by_name.setdefault(trial.names[0], []).append(trial)
    policies: dict[str, Policy] = {}
    for name, trials in by_name.items():
        if trials:
            held = possible(trials, device)
            policies[name] = held[0] if held else "unknown"
    return policies


# Without samples, and computing with floats: nobody knows. What else has no samples moves, draws or looks at tensors.
COMPUTES = re.compile(
    r"einsum|einops.*(reduce|Reduce)|lstm|gru|rnn_|LSTM|GRU|Transformer|Attention|attention|Loss|_loss|solve|lstsq|lowrank|"
    r"istft|_norm$|chain_matmul|conv_tbc|convolution|vander|bilinear|Bilinear|Upsample|interpolate|upsample|grid_sample|"
    r"lp_pool|LPPool|PairwiseDistance|CosineSimilarity|binary_cross_entropy|gumbel|triplet|cov$|corrcoef|histogram|"
    r"binomial|poisson|CrossMapLRN|RReLU|matrix_power|geqrf|affine_grid|combinations|parametriz|clip_grad"
)
# Fake tensors take statistics of another dtype than the input's, which real kernels refuse.
KNOWN: dict[str, Policy] = {
    "torch.nn.functional.batch_norm": "none",
    "torch.complex": "unknown",  # of two Float16 it is a complex dtype that has no name here
    "torch.polar": "unknown",
    # on a GPU (torch 2.11) a fused kernel leaves Float16 what the decomposition that fake tensors take makes Float32
    "torch.rms_norm": "unknown",
    "torch.nn.functional.rms_norm": "unknown",
    "torch.nn.RMSNorm": "unknown",
}


def completed(policies: dict[str, Policy]) -> dict[str, Policy]:
    """All names of all rules: those without samples have the policy that the others of their rule share."""
    whole = {**policies, **KNOWN}
    for table in (RULES, MODULES):
        for name in table:
            others = {whole[n] for n in table[name].names if n in whole}
            unlike = "unknown" if COMPUTES.search(name) or others else "none"
            whole.setdefault(name, others.pop() if len(others) == 1 else unlike)
    # made of other operations, which ones depends on dims and masks
    whole.update({name: "unknown" for name in whole if name.startswith("torch.masked.")})
    for name in MODULES:  # a lazy layer is the layer that it becomes
        whole[name] = whole.get(name.replace("nn.Lazy", "nn."), whole[name])
    return whole


def text(tables: dict[str, dict[str, Policy]]) -> str:
    """The module ``autocast_table``."""
    lines = [
        '"""The operations whose operands autocast casts. Written by ``python -m tests.oracle.autocast``.',
        "",
        'An operation that is in none of the sets is left alone."""',
        "",
        "# fmt: off",
        "# ruff: noqa: SIM905",
        "from typing import Literal",
        "",
        'TABLE: dict[str, dict[Literal["lower", "float32", "widest", "unknown"], frozenset[str]]] = {',
    ]
    for device, policies in tables.items():
        lines.append(f'    "{device}": {{')
        for policy in ("lower", "float32", "widest", "unknown"):
            names = sorted(n for n, p in policies.items() if p == policy)
            lines.append(f'        "{policy}": frozenset("""')
            lines += wrap(" ".join(names), 116, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
            lines.append('        """.split()),')
        lines.append("    },")
    return "\n".join([*lines, "}", ""])


def disagreements(device: str) -> Iterator[str]:
    """Where torch, on this machine, does not do what the table says."""
    autocast = Autocast(device, lift_dtype(LOWER[device]))
    for call in samples(dtypes=(torch.float32,), count=4):
        yield from (f"{call}: {t.ask(autocast)}, {t.truth}" for t in trials_of(call, device) if not t.agrees(autocast))
    for case in cases():
        for trial in trials_of_module(case, device):
            if not trial.agrees(autocast):
                yield f"{case}: {trial.ask(autocast)}, {trial.truth}"


def main() -> int:
    """Writes the table; with ``--check`` says where torch on this machine differs from it."""
    if "--check" in sys.argv:
        logging.disable(logging.ERROR)
        differing = [line for device in ("cuda", "cpu") for line in disagreements(device)]
        print(*differing, sep="\n")
        return 1 if differing else 0
    logging.disable(logging.ERROR)  # of fake tensors that an operation doesn't take
    tables = {device: completed(found(device)) for device in ("cuda", "cpu")}
    Path(autocast_table.__file__).write_text(text(tables), encoding="utf-8")
    for device, policies in tables.items():
        counts = {p: sum(v == p for v in policies.values()) for p in (*POLICIES, "unknown")}
        print(device, counts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
