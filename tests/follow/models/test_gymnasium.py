"""Environments of gymnasium: what the follower knows of them is what the library gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from simpletorch.follow import Followed, follow, results_differ

pytestmark = pytest.mark.filterwarnings("ignore")  # the library warns of its own old environments

_IDS = (
    *("CartPole-v0", "CartPole-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1", "Acrobot-v1"),
    *("FrozenLake-v1", "FrozenLake8x8-v1", "CliffWalking-v1", "Taxi-v4"),
)
_OWN = """
class Own(gym.Env):
    def __init__(self, size=3):
        self.size = size
        self.observation_space = gym.spaces.Box(-1.0, 1.0, (size,))
        self.action_space = gym.spaces.Discrete(5)
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(self.size, dtype=np.float32), {}
    def step(self, action):
        return np.zeros(self.size, dtype=np.float32), 0.5, False, False, {}
"""
_PLAY = """
observation, info = env.reset(seed=3)
after, reward, terminated, truncated, info = env.step(env.action_space.sample())
seen, then, gain = torch.as_tensor(observation), torch.as_tensor(after), torch.as_tensor(reward)
"""
_WRAPPED = {
    "an unchanged one": ('env = w.RecordEpisodeStatistics(gym.make("CartPole-v1"))', "seen then gain"),
    "flat": ('env = w.FlattenObservation(gym.make("FrozenLake-v1"))', "seen then"),
    "frames": ('env = w.FrameStackObservation(gym.make("Pendulum-v1"), 5)', "seen then"),
    "actions of another range": ('env = w.RescaleAction(gym.make("Pendulum-v1"), -1.0, 1.0)', "seen then"),
    "clipped actions": ('env = w.ClipAction(gym.make("Pendulum-v1"))', "seen then"),
    "normalized": ('env = w.NormalizeReward(w.NormalizeObservation(gym.make("CartPole-v1")))', ""),
    "by a function": (
        'e = gym.make("CartPole-v1")\n'
        "env = w.TransformObservation(e, lambda x: x[:3], gym.spaces.Box(-1.0, 1.0, (3,)))\n"
        "env = w.TransformReward(env, lambda r: 0.5 * r)",
        "seen then gain",
    ),
    "a wrapper of the program's": (
        "class Half(gym.ObservationWrapper):\n"
        "    def __init__(self, env):\n"
        "        super().__init__(env)\n"
        "        self.observation_space = gym.spaces.Box(-1.0, 1.0, (2,))\n"
        "    def observation(self, observation):\n"
        "        return observation[:2]\n"
        'env = Half(gym.make("CartPole-v1"))\n'
        "w = torch.zeros(env.observation_space.shape[0], env.action_space.n)",
        "seen then w",
    ),
    "the program's own": (f"{_OWN}\nenv = Own(7)", "seen then gain"),
    "a registered one": (f'{_OWN}\ngym.register("Own-v0", entry_point=Own)\nenv = gym.make("Own-v0", size=7)', "seen"),
}
_SPACES = """
s = gym.spaces
box, wide = s.Box(-1.0, 1.0, (3, 5)), s.Box(0, 255, (7,), np.uint8)
many, bits = s.MultiDiscrete([3, 5]), s.MultiBinary(7)
low = s.Box(np.zeros(11, np.float32), np.ones(11, np.float32))
pair, both = s.Tuple((box, many)), s.Dict({"b": box, "a": wide})
a, b, c, d = (torch.from_numpy(x.sample()) for x in (box, wide, many, bits))
e, f = (torch.from_numpy(x) for x in pair.sample())
g, h = (torch.from_numpy(x) for x in both.sample().values())
i, j = torch.from_numpy(low.sample()), torch.from_numpy(low.high)
k = torch.zeros(s.flatdim(box), s.flatdim(both), s.flatdim(pair), s.flatdim(s.Discrete(2)))
l = torch.from_numpy(s.flatten(both, both.sample()))
m = torch.zeros(*box.shape, *s.flatten_space(many).shape, len(both), s.Discrete(13).n)
"""
_VECTORS = {
    "made": 'envs = gym.make_vec("CartPole-v1", 3, vectorization_mode="sync")',
    "of functions": 'envs = gym.vector.SyncVectorEnv([lambda: gym.make("Pendulum-v1")] * 3)',
    "of whole numbers": 'envs = gym.make_vec("FrozenLake-v1", 3, vectorization_mode="sync")',
    "wrapped": 'envs = gym.make_vec("CartPole-v1", 3, vectorization_mode="sync")\n'
    "envs = gym.wrappers.vector.RecordEpisodeStatistics(envs)",
    "of the program's own": f"{_OWN}\nenvs = gym.vector.SyncVectorEnv([Own, Own, Own])",
}
_MANY = """
observation, info = envs.reset(seed=3)
after, reward, terminated, truncated, info = envs.step(envs.action_space.sample())
seen, then, gain, over = map(torch.as_tensor, (observation, after, reward, terminated | truncated))
net = torch.zeros(envs.num_envs, *envs.single_observation_space.shape)
"""
_HEAD = "import gymnasium as gym, numpy as np, torch\n"


def _followed(source: str, path: Path) -> Followed:
    return follow(path, opened={str(path): source})


@pytest.mark.parametrize("name", _IDS)
def test_what_an_environment_gives(name: str):
    sizes = "n = torch.zeros(gym.spaces.flatdim(env.observation_space), gym.spaces.flatdim(env.action_space))\n"
    assert results_differ(f'{_HEAD}env = gym.make("{name}")\n{sizes}{_PLAY}', "seen then n") == []


@pytest.mark.parametrize("name", _WRAPPED)
def test_a_wrapper(name: str):
    made, known = _WRAPPED[name]
    assert results_differ(f"{_HEAD}import gymnasium.wrappers as w\n{made}\n{_PLAY}", known) == []


def test_spaces():
    assert results_differ(_HEAD + _SPACES, "a b c d e f g h i j k m") == []


@pytest.mark.parametrize("name", _VECTORS)
def test_several_at_once(name: str):
    assert results_differ(f"{_HEAD}{_VECTORS[name]}\n{_MANY}", "seen then over net") == []


def test_the_sizes_of_an_action_may_reach_the_observation():
    play = 'env = gym.make("Pendulum-v1")\nenv.reset()\nx = torch.from_numpy(env.step(torch.zeros(1, 1))[0])'
    assert results_differ(_HEAD + play) == []


_OLD = """
import gym, torch
env = gym.make("CartPole-v0")
state = env.reset()
for _ in range(3):
    state, reward, done, info = env.step(env.action_space.sample())
x = torch.as_tensor(state, dtype=torch.float32)
torch.nn.Linear(5, 2)(x)
"""


def test_four_values_are_unpacked_of_an_older_gym(tmp_path: Path):
    found = _followed(_OLD, tmp_path / "program.py")
    assert [(e.line, e.code) for e in found.errors] == [(8, "tensor-shape")]


@pytest.mark.parametrize("line", ["env.reset()", "step = env.step(0)", "x = env.foo", "state, *rest = env.step(0)"])
def test_nothing_is_said_of_a_gym_of_unknown_age(tmp_path: Path, line: str):
    source = f'import gym, torch\nenv = gym.make("CartPole-v0")\n{line}\nobs = env.reset()\ntorch.as_tensor(obs)'
    assert not _followed(source, tmp_path / "program.py").errors


def test_a_tensor_is_no_action_of_cartpole(tmp_path: Path):
    source = f'{_HEAD}env = gym.make("CartPole-v1")\nenv.reset()\nenv.step(torch.randint(2, ()))\n'
    found = _followed(source, tmp_path / "program.py")
    assert [(e.line, "action.item()" in e.message) for e in found.errors] == [(4, True)]
    with pytest.raises(AssertionError):
        exec(source, {})


def test_nothing_is_said_of_an_environment_that_is_not_listed(tmp_path: Path):
    source = 'import gymnasium\nenv = gymnasium.make("Own/Else-v3")\na, b = env.reset()\nenv.step(a)[4]["x"] + env.x\n'
    assert not _followed(source, tmp_path / "program.py").errors


OUTSIDE = """
import gymnasium as gym
from gymnasium.wrappers import OrderEnforcing, TimeLimit


class Own(gym.Env):
    observation_space = gym.spaces.Box(-1, 1, (3,))
    action_space = gym.spaces.Discrete(2)


gym.register("Outside-v0", Own)
gym.register("Outside-v1", Own, max_episode_steps=7)
assert isinstance(gym.make("CartPole-v1"), TimeLimit)
assert isinstance(gym.make("CartPole-v1").env, OrderEnforcing)
assert not isinstance(gym.make("Blackjack-v1"), TimeLimit)
assert not isinstance(gym.make("Outside-v0"), TimeLimit)
assert isinstance(gym.make("Outside-v1"), TimeLimit)
assert gym.make("CartPole-v1")._max_episode_steps == 500
"""


def test_the_wrapper_outside_is_the_one_that_counts_steps(tmp_path: Path):
    (tmp_path / "program.py").write_text(OUTSIDE)
    exec(compile(OUTSIDE, "program.py", "exec"), {"__name__": "outside"})
    assert follow(tmp_path / "program.py").errors == ()
    (tmp_path / "program.py").write_text(
        OUTSIDE.replace('not isinstance(gym.make("Outside-v0"', 'isinstance(gym.make("Outside-v0"')
    )
    assert [e.line for e in follow(tmp_path / "program.py").errors] == [16]


def test_a_monitor_of_long_ago_changes_no_size(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        'import gym\nimport torch\nfrom gym import wrappers\nenv = wrappers.Monitor(gym.make("CartPole-v1"), "d")\n'
        "observation = env.reset()\nobservation, reward, done, _ = env.step(env.action_space.sample())\n"
        "rewards = env.get_episode_rewards()\nseen = torch.as_tensor(observation)\n"
    )
    found = follow(path)
    assert not found.errors
    assert str(next(s["seen"][-1] for s in found.claims.values() if "seen" in s)) == "Tensor[4]"
