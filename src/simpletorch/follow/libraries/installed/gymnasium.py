"""``gymnasium`` and ``gym``: spaces, environments, wrappers and vector environments (`gymnasium.txt`).

gym of before 0.26 has no ``info`` from ``reset``, and four values from ``step``. How the program unpacks them says it.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from simpletorch.follow.libraries import ALIASES, gives, native
from simpletorch.follow.libraries.installed import anything, stand
from simpletorch.follow.sources.syntax import of_node
from simpletorch.follow.values import Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__: Final = ()

_SPACES: Final = {
    "Space": "spaces.space.Space Space",
    "Box": "spaces.box.Box",
    "Discrete": "spaces.discrete.Discrete",
    "MultiDiscrete": "spaces.multi_discrete.MultiDiscrete",
    "MultiBinary": "spaces.multi_binary.MultiBinary",
    "Tuple": "spaces.tuple.Tuple",
    "Dict": "spaces.dict.Dict",
    "flatdim": "spaces.utils.flatdim",
    "flatten": "spaces.utils.flatten",
    "flatten_space": "spaces.utils.flatten_space",
}
_CORE: Final = ("Env", "Wrapper", "ObservationWrapper", "ActionWrapper", "RewardWrapper")
_WRAPPERS: Final = {
    "RecordEpisodeStatistics": "common",
    "RecordVideo": "rendering",
    "Monitor": "monitor",
    "TimeLimit": "common",
    "OrderEnforcing": "common",
    "PassiveEnvChecker": "common",
    "Autoreset": "common",
    "ClipAction": "transform_action",
    "RescaleAction": "transform_action",
    "ClipReward": "transform_reward",
    "NormalizeReward": "stateful_reward",
    "TransformReward": "transform_reward",
    "TransformObservation": "transform_observation",
    "NormalizeObservation": "stateful_observation",
    "FlattenObservation": "transform_observation",
    "FrameStackObservation": "stateful_observation",
    "FrameStack": "frame_stack",
    "AtariPreprocessing": "atari_preprocessing",
}
_VECTORS: Final = {"SyncVectorEnv": "sync_vector_env", "AsyncVectorEnv": "async_vector_env", "VectorEnv": "vector_env"}
stand(
    "gymnasium",
    "gymnasium.txt",
    {
        **{name: f"spaces.{name} {places}" for name, places in _SPACES.items()},
        **{name: f"{name} core.{name}" for name in _CORE},
        **{
            name: f"wrappers.{name} wrappers.{module}.{name} wrappers.vector.{name}"
            for name, module in _WRAPPERS.items()
        },
        **{name: f"vector.{name} vector.{module}.{name}" for name, module in _VECTORS.items()},
        "make": "make envs.make envs.registration.make",
        "make_vec": "make_vec envs.registration.make_vec",
        "make_of_gym": "vector.make",
        "register": "register envs.register envs.registration.register",
        "batch_space": "vector.utils.batch_space vector.utils.spaces.batch_space",
    },
)
ALIASES["gymnasium.vector.make"] = ALIASES.get("gymnasium.vector.make", "gymnasium.vector.make_of_gym")
ALIASES["gym"] = "gymnasium"
anything("simpletorch_gymnasium.anything", "what an environment gives")
gives("simpletorch_gymnasium.some_bool", "bool")
gives("simpletorch_gymnasium.some_float", "float")
gives("simpletorch_gymnasium.some_int", "int")
gives("simpletorch_gymnasium.some_dict", "dict")
gives("simpletorch_gymnasium.some_dtype")


@native("simpletorch_gymnasium.has_api")
def _has_api(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Whether ``step`` gives so many values here: False as well where that isn't known."""
    found = set().union(*map(_numbers_of_values, run.program.trees()))
    return found == {args[0]}


@of_node
def _numbers_of_values(tree: ast.Module) -> frozenset[int]:
    """How many values a file takes from ``step`` of gym; gymnasium gives five."""
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names) if any(n.name.partition(".")[0] == "gymnasium" for n in names):
                return frozenset({5})
            case ast.ImportFrom(module=str(module)) if module.partition(".")[0] == "gymnasium":
                return frozenset({5})
            case ast.Assign(targets=[ast.Tuple(elts=elts)], value=ast.Call(func=ast.Attribute(attr="step"))) if len(
                elts
            ) in (4, 5):
                found.add(len(elts))
    return frozenset(found)
