"""How a program runs: compiling, exporting, profiling, GPUs, several processes. No shape comes from there.

A program is followed as one process without a GPU. What depends on the machine isn't known; what only watches a module
leaves it as it is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from simpletorch.follow import branches, layers, tensors
from simpletorch.follow.libraries import ALIASES, NATIVES, VALUES, by_name, library_class, method, model, native
from simpletorch.follow.libraries.pytorch import torch_meshes
from simpletorch.follow.marks import gradients
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import (
    Choice,
    Class,
    Function,
    Instance,
    List,
    Method,
    Native,
    Sizes,
    Tensor,
    Unknown,
    Value,
    is_int,
)
from simpletorch.rules import Device, TensorType
from simpletorch.rules.core.autocast import Autocast
from simpletorch.rules.core.dtype import DEFAULT_FLOAT, FLOAT16, DType

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

Args: TypeAlias = tuple[Value, ...]
Kwargs: TypeAlias = dict[str, Value]

ALIASES.update(
    {
        "torch.nn.parallel.distributed": "torch.nn.parallel",
        "torch.nn.DataParallel": "torch.nn.parallel.DataParallel",
        "torch.cuda.amp.custom_fwd": "torch.amp.custom_fwd",
        "torch.cuda.amp.custom_bwd": "torch.amp.custom_bwd",
        "torch.cuda.random": "torch.cuda",
        "torch.autocast": "torch.amp.autocast",
        "torch.GradScaler": "torch.amp.GradScaler",
        "torch.cuda.amp.GradScaler": "torch.amp.GradScaler",
        "torch.cpu.amp.GradScaler": "torch.amp.GradScaler",
        "torch.amp.grad_scaler": "torch.amp",
        "torch.amp.autocast_mode": "torch.amp",
        "torch.cuda.amp.autocast_mode": "torch.cuda.amp",
        "torch.random.manual_seed": "torch.manual_seed",
        "torch.random.seed": "torch.seed",
    }
)


def _nothing(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return None


def _itself(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return args[0]


def _register(names: str, prefix: str, work: Any) -> None:
    for name in names.split():
        native(f"{prefix}.{name}")(work)


# -- what changes nothing --------------------------------------------------------------------------------------------

_register(
    "set_default_device set_rng_state set_warn_always set_flush_denormal set_anomaly_enabled set_autocast_enabled "
    "set_deterministic_debug_mode jit.save jit.enable_onednn_fusion random.set_rng_state "
    "clear_autocast_cache set_autocast_cache_enabled nn.utils.vector_to_parameters "
    "nn.utils.clip_grads_with_norm_ "
    "cuda.init cuda.set_rng_state cuda.set_rng_state_all cuda.seed cuda.seed_all "
    "cuda.reset_max_memory_allocated cuda.reset_accumulated_memory_stats cuda.set_per_process_memory_fraction "
    "cuda.nvtx.range_push cuda.nvtx.range_pop cuda.nvtx.mark "
    "compiler.reset _dynamo.reset compiler.cudagraph_mark_step_begin",
    "torch",
    _nothing,
)

# -- what isn't known ------------------------------------------------------------------------------------------------


def _of_machine(kind: str | None) -> Any:
    return lambda run, args, kwargs: run.unknown("what depends on the machine", kind, "data")


_register(
    "seed cuda.current_device cuda.memory_reserved cuda.max_memory_reserved cuda.memory_cached cuda.initial_seed "
    "get_num_threads get_num_interop_threads cuda.utilization cuda.temperature cuda.power_draw",
    "torch",
    _of_machine("int"),
)
_register("cuda.get_device_name get_float32_matmul_precision cuda.memory_summary", "torch", _of_machine("str"))
_register(
    "is_grad_enabled is_inference_mode_enabled is_autocast_enabled are_deterministic_algorithms_enabled "
    "cuda.is_initialized autograd.gradcheck autograd.gradgradcheck cuda.is_tf32_supported is_anomaly_enabled",
    "torch",
    _of_machine("bool"),
)
_register(
    "cuda.get_device_properties cuda.get_device_capability cuda.mem_get_info cuda.memory_stats cuda.get_rng_state "
    "cuda.get_rng_state_all random.get_rng_state get_default_device export.export onnx.export jit.load "
    "fx.symbolic_trace",
    "torch",
    _of_machine(None),
)
_register("is_compiling is_exporting is_dynamo_compiling", "torch.compiler", lambda run, args, kwargs: False)
_register("is_scripting is_tracing", "torch.jit", lambda run, args, kwargs: False)


@model("torch.jit.annotate")
def _annotate(run: Interpreter, the_type: Value, the_value: Value) -> Value:
    return the_value


VALUES["torch.version.cuda"] = Unknown("torch's version", "str")


@native("torch.set_default_dtype", "torch.set_default_tensor_type")
def _set_default_dtype(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if run.resolve(by_name("d", args, kwargs).get("d")) != DEFAULT_FLOAT:
        run.heap.write(run.modes, "other default dtype", True)
        run.converts_dtypes = True
    return None


def _make_autocast(run: Interpreter, cls: Class, args: Args, kwargs: Kwargs) -> Value:
    parameters = "device_type dtype enabled" if cls.module in ("torch.amp", "simpletorch.amp") else "enabled dtype"
    return Instance(cls, _autocast_of(run, cls, by_name(parameters, args, kwargs)))


def _autocast_of(run: Interpreter, cls: Class, given: Kwargs) -> Autocast | None:
    """The autocast that a constructor's arguments say; None where it is switched off.

    On a machine without a GPU torch switches one for CUDA off; a program that says so is followed as on one with.
    """
    enabled = run.resolve(given.get("enabled", True))
    if enabled is False:
        return None
    by_class = {"torch.cuda.amp": "cuda", "torch.cpu.amp": "cpu"}
    device = tensors.to_rule(run.resolve(given.get("device_type", by_class.get(cls.module))))
    kind = device.type if isinstance(device, Device) else device.partition(":")[0] if isinstance(device, str) else None
    asked = run.resolve(given.get("dtype"))
    dtype = asked if isinstance(asked, DType) else None
    if asked is not None and dtype is None:
        return Autocast(kind, None, certain=False)
    return replace(Autocast.of(kind, dtype), certain=enabled is True)


def _enter_autocast(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    me = args[0]
    run.heap.write(me.cells, "(before)", run.modes.get("autocast"))
    run.heap.write(run.modes, "autocast", me.native)
    return me


def _leave_autocast(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    me = args[0]
    run.heap.write(run.modes, "autocast", me.cells.get("(before)"))
    if me.native is not None and me.native.certain and me.native.dtype == FLOAT16:
        run.training.half = True
    return None


def _under_autocast(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    me, function = args

    def work(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        _enter_autocast(run, (me,), {})
        try:
            return run.call(function, args, kwargs)
        finally:
            _leave_autocast(run, (me,), {})

    return Native("a function under autocast", work)


for _module in ("torch.amp", "torch.cuda.amp", "torch.cpu.amp", "simpletorch.amp"):
    library_class(
        f"{_module}.autocast",
        make=_make_autocast,
        methods={"__enter__": _enter_autocast, "__exit__": _leave_autocast, "__call__": _under_autocast},
    )


# -- limits of dtypes ------------------------------------------------------------------------------------------------

_FLOATS: Final = {  # max, eps, tiny, resolution
    "float16": (65504.0, 2.0**-10, 2.0**-14, 1e-3),
    "bfloat16": ((2 - 2.0**-7) * 2.0**127, 2.0**-7, 2.0**-126, 1e-2),
    "float32": ((2 - 2.0**-23) * 2.0**127, 2.0**-23, 2.0**-126, 1e-6),
    "float64": ((2 - 2.0**-52) * 2.0**1023, 2.0**-52, 2.0**-1022, 1e-15),
}


def _limits(run: Interpreter, cls: Class, args: Args, kwargs: Kwargs) -> Value:
    return run.each(args[0] if args else kwargs.get("type", DEFAULT_FLOAT), lambda v: _limits_of(run, cls, v))


def _limits_of(run: Interpreter, cls: Class, dtype: Value) -> Value:
    made = Instance(cls)
    found: dict[str, Value] = {}
    if isinstance(dtype, DType) and dtype.torch_name in _FLOATS:
        most, eps, tiny, resolution = _FLOATS[dtype.torch_name]
        found = {"max": most, "min": -most, "eps": eps, "tiny": tiny, "smallest_normal": tiny, "resolution": resolution}
        found["bits"] = dtype.bits
    elif isinstance(dtype, DType) and dtype.category == "int":
        bits = dtype.bits if dtype.unsigned else dtype.bits - 1
        found = {"max": 2**bits - 1, "min": 0 if dtype.unsigned else -(2**bits), "bits": dtype.bits}
    else:
        kind = "float" if cls.name == "finfo" else "int"
        found = {n: run.unknown("a limit of a dtype", kind, "data") for n in ("max", "min", "eps", "tiny", "bits")}
    for name, value in found.items():
        run.heap.write(made.cells, name, value)
    return made


library_class("torch.finfo", make=_limits)
library_class("torch.iinfo", make=_limits)


# -- compiling -------------------------------------------------------------------------------------------------------


def _same(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """The function or module that is given; with options alone, a decorator."""
    if args and run.resolve(args[0]) is not None:
        first = run.resolve(args[0])
        return first if isinstance(first, Function | Method | Native | Class | Instance | Choice) else _decorator()
    named = next((kwargs[k] for k in ("model", "obj", "func", "fn") if k in kwargs), None)
    return _decorator() if named is None else named


def _decorator() -> Native:
    return Native("a decorator", _itself)


def _compile(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """The same function or module, which is ``compiled._orig_mod`` too."""
    found = _same(run, args, kwargs)
    if isinstance(found, Instance):
        run.heap.write(found.state, "compiled", True)
    return found


_register("compile", "torch", _compile)
_register(
    "jit.ignore jit.unused jit.export jit.script_if_tracing compiler.disable compiler.allow_in_graph "
    "_dynamo.disable _dynamo.optimize amp.custom_fwd amp.custom_bwd compiler.compile cuda.make_graphed_callables",
    "torch",
    _same,
)


def _scripted(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """The same function or module, but TorchScript makes floats of ints where a parameter is annotated so."""
    found = _compiled(run, args, kwargs)
    return replace(found, scripted=True) if isinstance(found, Function) else found


def _compiled(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """The same function or module, that can be saved and has its code and graph."""
    found = _same(run, args, kwargs)
    if isinstance(found, Instance):
        run.heap.write(found.state, "listed", True)
    return found


_register("script script_method", "torch.jit", _scripted)
_register("trace trace_module freeze optimize_for_inference", "torch.jit", _compiled)
_register(
    "weight_norm spectral_norm parametrizations.weight_norm parametrizations.spectral_norm parametrizations.orthogonal "
    "remove_weight_norm remove_spectral_norm parametrize.remove_parametrizations prune.l1_unstructured prune.remove "
    "prune.random_unstructured prune.ln_structured prune.random_structured prune.identity prune.custom_from_mask "
    "convert_conv2d_weight_memory_format convert_conv3d_weight_memory_format",
    "torch.nn.utils",
    _itself,
)
native("torch.nn.utils.prune.global_unstructured")(_nothing)
NATIVES["torch.nn.SyncBatchNorm.convert_sync_batchnorm"] = Native("convert_sync_batchnorm", _itself)


@native("torch.nn.utils.skip_init")
def _skip_init(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return run.call(args[0], args[1:], {k: v for k, v in kwargs.items() if k != "device"})


@model("torch._assert")
def _assert(run: Interpreter, condition: Value, message: Value) -> Value:
    """The ``assert`` of programs that are traced."""
    if branches.truth(run, condition) is False:
        raise Raised("AssertionError", None, ("Exception", "BaseException"))
    return None


@native("torch.autograd.Variable")
def _variable(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``Variable(data, requires_grad=False)`` of long ago: the same numbers as a leaf."""
    value = run.resolve(args[0] if args else kwargs.get("data"))
    if not isinstance(value, Tensor):
        return value
    made = run.ask("Tensor.detach", (value,))
    flag = run.resolve(args[1] if len(args) > 1 else kwargs.get("requires_grad", False))
    if flag is not False and isinstance(made, Tensor):
        gradients.freeze(run, made, flag)
    return made


@method(Tensor, "new")
def _new(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """The constructor of long ago: of sizes, of a shape, of another tensor of the dtype, or of a list of numbers."""
    me, *sizes = args
    if sizes and all(is_int(run.resolve(s)) for s in sizes):
        return run.ask("Tensor.new_empty", (me, tuple(sizes)))
    only = run.resolve(sizes[0]) if len(sizes) == 1 else None
    if isinstance(only, Sizes):
        return run.ask("Tensor.new_empty", (me, tuple(only)))
    if isinstance(only, Tensor) and not only.array:
        return run.ask("Tensor.detach", (only,))
    if len(sizes) == 1 and isinstance(run.resolve(sizes[0]), List):
        return (
            run.ask("Tensor.to", (run.call(NATIVES["torch.tensor"], sizes), me.type.dtype))
            if me.type.dtype
            else (Tensor(TensorType()))
        )
    return Tensor(TensorType(dtype=me.type.dtype))


# -- GPUs and profiles -----------------------------------------------------------------------------------------------


def _handle(name: str, methods: str, **more: Any) -> None:
    """A class whose objects are contexts and have methods that do nothing."""
    table = {"__enter__": _itself, **dict.fromkeys(("__init__", "__exit__", *methods.split()), _nothing), **more}
    library_class(name, methods=table)


_handle("torch.cuda.device", "")
_handle("torch.cuda.CUDAGraph", "replay reset capture_begin capture_end")
_handle("torch.cuda.graph", "")
_handle("torch.profiler.profile", "start stop step export_chrome_trace export_stacks", key_averages=_of_machine(None))
_handle("torch.autograd.profiler.profile", "export_chrome_trace", key_averages=_of_machine(None))


# -- several processes -----------------------------------------------------------------------------------------------


def _wrap(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    run.heap.write(args[0].cells, "module", by_name("module", args[1:], kwargs).get("module"))
    return None


def _unwrapped(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return run.call(run.attribute(args[0], "module"), args[1:], kwargs)


def _no_sync(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return Instance(run.program.library_class("torch.device_context"))


@model("torch.nn.parallel.data_parallel")
def _data_parallel(run: Interpreter, module: Value, inputs: Value, *more: Value, **rest: Value) -> Value:
    return run.call(module, inputs if type(inputs) is tuple else (inputs,))


def _wrap_of_processes(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    given = by_name("module device_ids output_device dim broadcast_buffers init_sync process_group", args[1:], kwargs)
    if run.resolve(given.get("process_group")) is None and run.resolve(given.get("device_mesh")) is None:
        torch_meshes.need_group(run, "DistributedDataParallel")
    return _wrap(run, args, kwargs)


for _wrapper, _init in (
    ("nn.parallel.DistributedDataParallel", _wrap_of_processes),
    ("nn.parallel.DataParallel", _wrap),
    ("distributed.fsdp.FullyShardedDataParallel", _wrap),
):
    library_class(
        f"torch.{_wrapper}",
        (layers.MODULE,),
        {"__init__": _init, "forward": _unwrapped, "no_sync": _no_sync, "register_comm_hook": _nothing},
    )
