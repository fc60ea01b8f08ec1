"""``Tensor.zeros(3, 4)``, ``CPUTensor.zeros(3, 4)``, ``Parameter.zeros(3, 4)``, ``Tensor[Float32].zeros(3, 4)``.

The rule is torch's own; the face says the rest: a device, a dtype, or that it is a parameter. In torch's own calls too
a class of `simpletorch.dtypes` stands for its dtype: ``st.zeros(3, dtype=Float32)``, ``t.to(Float64)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from mypy.nodes import Expression, RefExpr, TypeInfo
from mypy.plugin import MethodSigContext
from mypy.types import CallableType, Instance, ProperType, Type, get_proper_type

from simpletorch.mypy.calls.arguments import SignatureContext, read_arguments
from simpletorch.mypy.calls.arrays.tensors import with_arrays
from simpletorch.mypy.calls.reader import CallReader
from simpletorch.mypy.hooks import MethodHook
from simpletorch.mypy.names import DEVICE_TENSORS, DTYPES_MODULE, OUR_PARAMETER, OUR_TENSORS, PARAMETER, TENSOR
from simpletorch.mypy.types import TypeTable, any_type, walk
from simpletorch.rules import Device, Report, Value, infer
from simpletorch.rules.core.dtype import BY_NAME, DType
from simpletorch.rules.core.values import TensorType

__all__ = ["METHODS", "with_dtype_classes"]

_RENAMED: Final = {"from_array": "torch.asarray", "one_hot": "torch.nn.functional.one_hot"}
_NAMES: Final = (
    *("zeros", "ones", "full", "empty", "rand", "randn", "randint", "arange", "linspace", "logspace", "eye", "tensor"),
    *("from_array", "from_numpy", "zeros_like", "ones_like", "full_like", "empty_like", "rand_like", "randn_like"),
    *("tril_indices", "one_hot", "from_dlpack"),
)
_FACES: Final = frozenset({*OUR_TENSORS, TENSOR, PARAMETER})


def _make(name: str, context: MethodSigContext, types: TypeTable) -> CallableType:
    signature = context.default_signature
    face = _face(context.type)
    reader = CallReader(types, context)
    given = read_arguments(context)
    combinations = reader.arguments(given)
    if face is None or combinations is None or types.tensor is None:
        return signature
    if combinations is not None and name.startswith("from_"):
        combinations = with_arrays(reader.lifter, reader.api, given, combinations)
    dtype = reader.lifter.dtype(face.args[0]) if face.args else None
    rule = _RENAMED.get(name, f"torch.{name}")
    result = reader.answer(
        lambda positional, named: _as_face(infer(rule, positional, _without_dtype(named, dtype)), face, dtype),
        [(positional, dict(named)) for positional, named in combinations],
        _gradual(face, types),
        context.context,
    )
    return signature.copy_modified(ret_type=result, variables=[])


def _face(receiver: ProperType) -> Instance | None:
    """The class that a factory is called on: ``CPUTensor`` of ``CPUTensor.zeros``."""
    if not isinstance(receiver, CallableType) or not receiver.is_type_obj():
        return None
    made = get_proper_type(receiver.ret_type)
    return made if isinstance(made, Instance) else None


def _without_dtype(named: Mapping[str, Value], dtype: DType | None) -> dict[str, Value]:
    """The arguments without a dtype that the face has already."""
    return {n: v for n, v in named.items() if n != "dtype" or dtype is None}


def _as_face(made: Value | Report, face: Instance, dtype: DType | None) -> Value | Report:
    if not isinstance(made, TensorType):
        return made
    name = face.type.fullname
    device = made.device
    if name in DEVICE_TENSORS and (device is None or device.type != DEVICE_TENSORS[name]):
        device = Device(DEVICE_TENSORS[name])
    if dtype is not None:
        made = made.with_dtype(dtype)  # what is converted is no parameter
    return replace(made, device=device, is_parameter=name in (OUR_PARAMETER, PARAMETER))


def _gradual(face: Instance, types: TypeTable) -> Instance:
    """The result of a factory about which nothing else is known."""
    target = {OUR_PARAMETER: PARAMETER}.get(face.type.fullname, face.type.fullname)
    info = types.info(target if target in (PARAMETER, *DEVICE_TENSORS) else TENSOR) or face.type
    gradual = types.any_tensor()
    return (
        face if gradual is None else Instance(info, [face.args[0] if face.args else gradual.args[0], gradual.args[1]])
    )


METHODS: Final[Mapping[str, MethodHook]] = {
    f"{face}.{name}": partial(_make, name) for face in _FACES for name in _NAMES
}


# -- classes for dtypes ------------------------------------------------------------------------------------------------


def with_dtype_classes(signature: CallableType, context: SignatureContext) -> CallableType:
    """The signature with anything for each `torch.dtype` that this call gives a dtype's class for.

    At run time torch asks the class for its dtype; torch's stubs don't know it.
    """
    given = [any(_is_dtype_class(node) for node in nodes) for nodes in context.args]
    if True not in given or len(given) != len(signature.arg_types):
        return signature
    formals = [
        any_type() if is_class and _takes_dtype(formal) else formal
        for is_class, formal in zip(given, signature.arg_types, strict=True)
    ]
    return signature.copy_modified(arg_types=formals)


def _takes_dtype(formal: Type) -> bool:
    return any(isinstance(part, Instance) and part.type.fullname == "torch._C.dtype" for part in walk(formal))


def _is_dtype_class(node: Expression) -> bool:
    if not isinstance(node, RefExpr) or not isinstance(node.node, TypeInfo):
        return False
    home, _, name = node.node.fullname.rpartition(".")
    # a kind of dtypes, such as `Float`, is none of torch's
    return home == DTYPES_MODULE and name in BY_NAME and BY_NAME[name].torch_name is not None
