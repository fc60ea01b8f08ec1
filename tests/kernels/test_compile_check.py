"""`compile_check`: every variant compiles for each of four chips, and what can't run is said in a sentence."""

from __future__ import annotations

import pytest

pytest.importorskip("triton", reason="Triton is for Linux")

from simpletorch.errors import BackendError
from simpletorch.kernels import _compile_check as checking
from simpletorch.kernels import compile_check
from tests.kernels import small_kernels
from tests.marks import thorough

SHIPPED = {
    *("relu_add_forward", "relu_add_backward", "softmax_forward", "softmax_forward_long", "softmax_backward"),
    *("softmax_backward_long", "layer_norm_forward", "layer_norm_backward", "rms_norm_forward", "rms_norm_backward"),
    *("gated_forward", "gated_backward", "rotary", "cross_entropy_forward", "cross_entropy_backward"),
    *("cross_entropy_in_place", "dropout_add", "adamw_step", "column_sums", "partial_sums"),
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    """Compiled anew, whatever an earlier run left."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "triton"))


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["sm90", *thorough(["sm80", "sm100", "gfx942"])])
def test_every_shipped_variant_compiles(arch, monkeypatch):
    shipped = {k: v for k, v in bound().items() if k.startswith("simpletorch.")}
    monkeypatch.setattr(checking, "KERNELS", shipped)
    report = compile_check(arch=arch)
    assert report.ok, str(report)
    report.check()
    assert {variant.kernel for variant in report.variants} == SHIPPED
    assert all(variant.binary > 500 and variant.registers > 4 for variant in report.variants)
    types = {variant.types for variant in report.variants if variant.kernel == "softmax_forward"}
    assert types == {"fp32", "fp16", "bf16"}


def bound():
    checking._bind_shipped()
    return checking.KERNELS


def test_a_report_is_a_table():
    report = compile_check(small_kernels.scaled, arch=("sm90", "gfx942"))
    lines = str(report).splitlines()
    assert lines[0].split() == ["kernel", "chip", "variants", "registers", "spilled", "shared", "seconds"]
    assert [line.split()[:3] for line in lines[1:]] == [["scaled_body", "sm90", "6"], ["scaled_body", "gfx942", "6"]]
    without = [variant for variant in report.variants if "without y" in variant.types]
    assert [variant.arch for variant in without] == ["sm90", "gfx942"]


def test_more_shared_memory_than_the_chip_has():
    report = compile_check(small_kernels.too_much_shared, arch="sm80")
    (failure,) = report.failures
    assert "shared memory, sm80 has 166912 for a program" in failure.reason
    with pytest.raises(BackendError, match=r"too_much_shared for sm80 \(fp32; BLOCK=8192, num_warps=8\): \d+ bytes of"):
        report.check()


def test_more_threads_than_the_chip_has():
    report = compile_check(small_kernels.too_many_threads_for_amd, arch=("sm90", "gfx942"))
    (failure,) = report.failures
    assert failure.reason == "num_warps=32 are 2048 threads, gfx942 runs at most 1024 in a program"
    assert "1, 1 failed" in str(report)


def test_what_the_compiler_refuses_is_a_line():
    report = compile_check(small_kernels.a_size_for_a_pointer, arch="sm90")
    (failure,) = report.failures
    assert "Unsupported ptr type" in failure.reason
    assert "\n" not in failure.reason


def test_registers_are_those_that_the_assembler_counts():
    """The number of ptxas for this kernel on sm90, with the version of Triton that is pinned."""
    (variant,) = (v for v in compile_check(small_kernels.too_many_threads_for_amd, arch="sm90").variants)
    assert 8 <= variant.registers <= 32
    assert variant.spilled == 0


def test_an_unknown_chip():
    with pytest.raises(BackendError, match="compile_check knows no chip 'sm91'"):
        compile_check(small_kernels.scaled, arch="sm91")


def test_a_kernel_without_configs():
    with pytest.raises(BackendError, match="no_configs has no configs: compile_check doesn't know"):
        compile_check(small_kernels.no_configs)


def test_without_triton(monkeypatch):
    monkeypatch.setattr(checking.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BackendError, match="compile_check needs Triton, which isn't installed"):
        compile_check(small_kernels.scaled)


def test_under_the_interpreter(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    with pytest.raises(BackendError, match="compile_check can't compile under TRITON_INTERPRET=1"):
        compile_check(small_kernels.scaled)
