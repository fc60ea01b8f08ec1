"""`compile_check`: every variant of a kernel compiled for several chips, on a machine that needs none of them."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simpletorch._distribution import installing
from simpletorch.errors import BackendError
from simpletorch.kernels._binary import Resources, resources_of_cubin, resources_of_hsaco
from simpletorch.kernels._chips import ARCHITECTURES, Architecture
from simpletorch.kernels._signatures import KINDS, Parameter
from simpletorch.kernels._triton import KERNELS, OPTIONS, Config, TritonKernel, interpreted

__all__ = ["CompileReport", "Variant", "compile_check"]


@dataclass(frozen=True)
class Variant:
    """One kernel compiled in one way.

    Attributes:
        kernel: the kernel's name.
        arch: the chip that it is compiled for, such as ``"sm90"`` or ``"gfx942"``.
        dtypes: of its pointers, by parameter; None for one that is left out.
        constants: its constants and options.
        seconds: how long the compilation took.
        registers: of a thread.
        spilled: bytes that a thread keeps in memory because its registers don't suffice: right, but slow.
        shared: bytes of shared memory that a program takes.
        binary: bytes of the compiled code.
        reason: why it can't run on this chip, "" if it can.

    Examples:
        >>> from simpletorch import kernels
        >>> variant = kernels.Variant("relu_add", "sm90", {"x": "fp32"}, {"BLOCK": 1024}, registers=32)
        >>> variant.reason
        ''
    """

    kernel: str
    arch: str
    dtypes: Mapping[str, str | None]
    constants: Mapping[str, Any]
    seconds: float = 0.0
    registers: int = 0
    spilled: int = 0
    shared: int = 0
    binary: int = 0
    reason: str = ""

    @property
    def types(self) -> str:
        """The dtypes in short: one name if all are the same."""
        names = {dtype for dtype in self.dtypes.values() if dtype is not None}
        left = [name for name, dtype in self.dtypes.items() if dtype is None]
        return "/".join(sorted(names)) + (f" without {', '.join(left)}" if left else "")


@dataclass(frozen=True)
class CompileReport:
    """The result of `compile_check`. Printed, it is a table with a line a kernel and chip, then the failures.

    Examples:
        >>> from simpletorch import kernels
        >>> report = kernels.CompileReport((kernels.Variant("relu_add", "sm90", {"x": "fp32"}, {"BLOCK": 1024}),))
        >>> len(report.variants)
        1
    """

    variants: tuple[Variant, ...]
    """One for each kernel, combination of dtypes and constants, and chip."""

    @property
    def failures(self) -> tuple[Variant, ...]:
        """The variants that can't run."""
        return tuple(variant for variant in self.variants if variant.reason)

    @property
    def ok(self) -> bool:
        """Whether every variant can run."""
        return not self.failures

    def check(self) -> None:
        """Raise if a variant can't run.

        Raises:
            BackendError: with a line for each of them.
        """
        if self.failures:
            raise BackendError("\n".join(_failed(variant) for variant in self.failures))

    def __str__(self) -> str:
        head = ("kernel", "chip", "variants", "registers", "spilled", "shared", "seconds")
        lines = [head, *(_line(key, group) for key, group in _groups(self.variants).items())]
        widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
        text = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
        ]
        return "\n".join([*text, *(_failed(variant) for variant in self.failures)])


def _groups(variants: Sequence[Variant]) -> dict[tuple[str, str], list[Variant]]:
    groups: dict[tuple[str, str], list[Variant]] = {}
    for variant in variants:
        groups.setdefault((variant.kernel, variant.arch), []).append(variant)
    return groups


def _line(key: tuple[str, str], group: Sequence[Variant]) -> tuple[str, ...]:
    """The most that any variant takes."""
    failed = sum(1 for variant in group if variant.reason)
    count = f"{len(group)}" + (f", {failed} failed" if failed else "")
    registers, spilled, shared = (max(getattr(v, name) for v in group) for name in ("registers", "spilled", "shared"))
    return (*key, count, str(registers), str(spilled), str(shared), f"{sum(v.seconds for v in group):.1f}")


def _failed(variant: Variant) -> str:
    said = ", ".join(f"{name}={value}" for name, value in variant.constants.items())
    return f"{variant.kernel} for {variant.arch} ({variant.types}; {said}): {variant.reason}"


def compile_check(
    kernel: TritonKernel | None = None, arch: str | Sequence[str] = ("sm80", "sm90", "sm100", "gfx942")
) -> CompileReport:
    """Compile every variant of a kernel to machine code, without a GPU, and compare its needs with the chips.

    A variant is one of the kernel's configs with one choice of dtypes (all pointers that take several have the same
    one), with the optional pointers or without. Pointers and sizes are assumed to be multiples of 16, as they are in
    practice; that allows wide loads.

    Args:
        kernel: bound by `kernels.triton`; by default all that are bound, and the shipped ones.
        arch: chips: sm75 to sm120 of NVIDIA, gfx90a, gfx942, gfx950 of AMD.

    Returns:
        A report with a row for each variant; it doesn't raise for one that fails.

    Raises:
        BackendError: a chip is unknown, Triton isn't installed, or TRITON_INTERPRET=1 replaced the compiler.
    """
    archs = (arch,) if isinstance(arch, str) else tuple(arch)
    for name in archs:
        if name not in ARCHITECTURES:
            raise BackendError(f"compile_check knows no chip {name!r}", hint=f"it knows {', '.join(ARCHITECTURES)}")
    if importlib.util.find_spec("triton") is None:
        raise BackendError("compile_check needs Triton, which isn't installed", hint=installing("triton"))
    if interpreted():
        raise BackendError(
            "compile_check can't compile under TRITON_INTERPRET=1: kernels were made for the interpreter"
        )
    if kernel is None:
        _bind_shipped()
    bound = list(KERNELS.values()) if kernel is None else [kernel]
    return CompileReport(
        tuple(_compiled(one, name, *how) for one in bound for name in archs for how in _ways(one, name))
    )


def _bind_shipped() -> None:
    package = importlib.import_module("simpletorch.kernels.shipped._triton")
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)


def _ways(kernel: TritonKernel, arch: str) -> Iterator[tuple[dict[str, str | None], Config]]:
    """The configs with the choices of dtypes.

    The first and the last dtype go with each config; those between (float16 is compiled as bfloat16 is) and the
    optional pointers left out go with the first config.
    """
    if not kernel.configs:
        raise BackendError(f"{kernel.name} has no configs: compile_check doesn't know its constants")
    pointers = [p for p in kernel.signature.parameters if p.kind == "pointer"]
    configs = [config for config in kernel.configs if arch.startswith(config.get("arch", ""))]
    for number, config in enumerate(configs):
        choices = list(_dtypes(pointers))
        tried = choices if number == 0 else {0: choices[0], len(choices) - 1: choices[-1]}.values()
        for dtypes in tried:
            yield dtypes, config
        optional = [p.name for p in pointers if p.optional]
        if optional and number == 0:
            yield {**choices[0], **dict.fromkeys(optional)}, config


def _dtypes(pointers: Sequence[Parameter]) -> Iterator[dict[str, str | None]]:
    for choice in range(max((len(p.dtypes) for p in pointers), default=1)):
        yield {p.name: KINDS[p.dtypes[min(choice, len(p.dtypes) - 1)]] for p in pointers}


def _compiled(kernel: TritonKernel, arch: str, dtypes: Mapping[str, str | None], config: Config) -> Variant:
    # no import statements, or mypy would read all of Triton
    target = importlib.import_module("triton.backends.compiler").GPUTarget
    compiler = importlib.import_module("triton.compiler")
    chip = ARCHITECTURES[arch]
    signature, constants, attributes = _launch(kernel, dtypes, config)
    said = {name: value for name, value in config.items() if name != "arch"}
    options = {name: config[name] for name in OPTIONS if name in config}
    start = time.perf_counter()
    try:
        done = compiler.compile(
            compiler.ASTSource(kernel.function, signature, constants, attributes),
            target=target(chip.backend, chip.target, chip.warp),
            options=options,
        )
    except Exception as error:  # the compiler raises what it likes; each is a variant that can't run
        return Variant(kernel.name, arch, dtypes, said, time.perf_counter() - start, reason=_reason(error))
    seconds = time.perf_counter() - start
    if chip.backend == "cuda":
        binary, found = done.asm["cubin"], resources_of_cubin(done.asm["cubin"])
    else:
        binary, found = done.asm["hsaco"], resources_of_hsaco(done.asm["amdgcn"])
    reason = _too_much(chip, arch, config.get("num_warps", 4), found, done.metadata.shared)
    return Variant(
        kernel.name,
        arch,
        dtypes,
        said,
        seconds,
        found.registers,
        found.stack,
        done.metadata.shared,
        len(binary),
        reason,
    )


def _launch(
    kernel: TritonKernel, dtypes: Mapping[str, str | None], config: Config
) -> tuple[dict[str, str], dict[str, Any], dict[tuple[int], Any]]:
    """The signature, constants and divisibilities that Triton would find in a launch."""
    signature: dict[str, str] = {}
    constants: dict[str, Any] = {}
    attributes: dict[tuple[int], Any] = {}
    for index, parameter in enumerate(kernel.signature.parameters):
        name = parameter.name
        if parameter.kind == "constexpr" or dtypes.get(name, "") is None:
            signature[name] = "constexpr"
            constants[name] = None if parameter.kind == "pointer" else config.get(name, parameter.default)
        elif parameter.kind == "number":
            signature[name] = "fp32"
        else:
            signature[name] = f"*{dtypes[name]}" if parameter.kind == "pointer" else "i32"
            attributes[(index,)] = [["tt.divisibility", 16]]
    return signature, constants, attributes


def _reason(error: Exception) -> str:
    """The last line of what the compiler says that isn't a drawing of the place."""
    cause = error.__cause__ or error
    lines = [line.strip() for line in str(cause).splitlines() if line.strip(" ^")]
    return f"{type(error).__name__}: {lines[-1] if lines else 'the compiler says nothing'}"


def _too_much(chip: Architecture, arch: str, warps: int, found: Resources, shared: int) -> str:
    """Why a program is too large for the chip, "" if it isn't."""
    threads = warps * chip.warp
    if threads > chip.threads:
        return f"num_warps={warps} are {threads} threads, {arch} runs at most {chip.threads} in a program"
    if shared > chip.shared:
        return f"{shared} bytes of shared memory, {arch} has {chip.shared} for a program"
    if found.registers > chip.registers or found.registers * threads > chip.all_registers:
        return f"{found.registers} registers in {threads} threads, {arch} has {chip.all_registers} for a program"
    return ""
