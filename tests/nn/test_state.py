"""`load_state_dict`: a state dict goes into a module whole or not at all, and every key that doesn't fit is named."""

import copy
import pickle
import random

import pytest
import torch

from simpletorch import nn
from simpletorch.errors import CheckpointError
from simpletorch.nn import StateMismatch, load_state_dict


class Ours(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(3, 5)
        self.norm = torch.nn.BatchNorm1d(5)
        self.scale = torch.nn.Parameter(torch.ones(()))


class Theirs(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(3, 5)
        self.norm = torch.nn.BatchNorm1d(5)
        self.scale = torch.nn.Parameter(torch.ones(()))


def values(module):
    return {key: value.clone() for key, value in module.state_dict().items()}


def new_values(module):
    torch.manual_seed(11)
    return {k: torch.rand_like(v) if v.is_floating_point() else v + 7 for k, v in module.state_dict().items()}


def same(first, second):
    return first.keys() == second.keys() and all(torch.equal(first[k], second[k]) for k in first)


@pytest.fixture(params=[Ours, Theirs])
def module(request):
    torch.manual_seed(3)
    return request.param()


def load(module, state, **options):
    """Our module by its method, torch's by the function."""
    return (
        module.load_state_dict(state, **options)
        if isinstance(module, Ours)
        else load_state_dict(module, state, **options)
    )


def test_a_good_state_is_loaded_in_place(module):
    parameters = list(module.parameters())
    state = new_values(module)
    found = load(module, state)
    assert found == ([], [])
    assert repr(found) == "<All keys matched successfully>"
    assert same(values(module), state)
    assert all(a is b for a, b in zip(parameters, module.parameters(), strict=True))
    assert all(p.requires_grad for p in parameters)


def test_the_state_dicts_tensors_are_copied_not_shared(module):
    state = new_values(module)
    load(module, state)
    state["fc.weight"].zero_()
    assert not module.fc.weight.eq(0).any()


def test_dtypes_are_converted(module):
    load(module, {k: v.double() for k, v in new_values(module).items()})
    assert module.fc.weight.dtype == torch.float32


def broken(module):
    state = new_values(module)
    state["fc.weight"] = torch.zeros(5, 7)
    state["norm.bias"] = torch.zeros(11)
    del state["fc.bias"], state["scale"]
    state["head.weight"] = torch.zeros(2, 13)
    return state


def test_everything_that_does_not_fit_is_named_at_once(module):
    with pytest.raises(StateMismatch) as caught:
        load(module, broken(module))
    error = caught.value
    assert error.missing == ("scale", "fc.bias")
    assert error.unexpected == ("head.weight",)
    assert error.misshapen == {"fc.weight": ((5, 3), (5, 7)), "norm.bias": ((5,), (11,))}
    assert error.expected == {"scale": (), "fc.bias": (5,), "fc.weight": (5, 3), "norm.bias": (5,)}
    assert error.got == {"head.weight": (2, 13), "fc.weight": (5, 7), "norm.bias": (11,)}
    assert str(error) == (
        f"load_state_dict: the state dict doesn't fit {type(module).__name__}: "
        "2 keys missing, 1 key unexpected, 2 keys misshapen\n"
        "  scale        missing         should be Float32[]\n"
        "  fc.bias      missing         should be Float32[5]\n"
        "  head.weight  Float32[2, 13]  should be absent\n"
        "  fc.weight    Float32[5, 7]   should be Float32[5, 3]\n"
        "  norm.bias    Float32[11]     should be Float32[5]"
    )


def test_the_error_is_a_checkpoint_error_and_torchs_runtime_error_and_can_be_pickled(module):
    with pytest.raises(CheckpointError) as caught:
        load(module, broken(module))
    assert isinstance(caught.value, RuntimeError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is StateMismatch
    assert again.misshapen == caught.value.misshapen
    assert str(again) == str(caught.value)


@pytest.mark.parametrize("assign", [False, True])
@pytest.mark.parametrize("strict", [False, True])
def test_a_failed_load_leaves_the_module_as_it_was(module, assign, strict):
    before, tensors = values(module), [*module.parameters(), *module.buffers()]
    with pytest.raises(StateMismatch):
        load(module, broken(module), assign=assign, strict=strict)
    assert same(values(module), before)
    assert all(a is b for a, b in zip(tensors, [*module.parameters(), *module.buffers()], strict=True))


def damaged(state, choose):
    """The state with some keys dropped, renamed or of another shape; what was done to it."""
    out, missing, unexpected, misshapen = {}, set(), set(), {}
    for key, value in state.items():
        match choose.randrange(6):
            case 0 if not key.endswith("num_batches_tracked"):  # these may be missing: files are older than they
                missing.add(key)
            case 1 if not key.endswith("num_batches_tracked"):
                missing.add(key)
                unexpected.add(f"{key}_ema")
                out[f"{key}_ema"] = value
            case 2 if value.ndim:
                out[key] = torch.zeros(*value.shape[:-1], value.shape[-1] + 1)
                misshapen[key] = (tuple(value.shape), tuple(out[key].shape))
            case _:
                out[key] = value
    return out, missing, unexpected, misshapen


@pytest.mark.parametrize("seed", range(50))
def test_random_damage_is_named_exactly_and_changes_nothing(seed):
    choose = random.Random(seed)
    parts = [torch.nn.Linear(3, 5), torch.nn.BatchNorm1d(5), torch.nn.LSTM(5, 7), torch.nn.MultiheadAttention(6, 3)]
    module = nn.Sequential(*choose.sample(parts, 3), torch.nn.ModuleList([torch.nn.Conv2d(2, 3, 5), Theirs()]))
    before = values(module)
    state, missing, unexpected, misshapen = damaged(new_values(module), choose)
    if not (missing or unexpected or misshapen):
        pytest.skip("no damage done")
    with pytest.raises(StateMismatch) as caught:
        module.load_state_dict(state)
    assert set(caught.value.missing) == missing
    assert set(caught.value.unexpected) == unexpected
    assert caught.value.misshapen == misshapen
    assert same(values(module), before)


def test_torch_itself_leaves_it_half_loaded():
    module = Theirs()
    before = values(module)
    with pytest.raises(RuntimeError):
        module.load_state_dict(broken(module))
    assert not same(values(module), before)


def test_not_strict_passes_over_missing_and_unexpected_keys(module):
    state = new_values(module)
    del state["fc.bias"]
    state["head.weight"] = torch.zeros(2)
    bias = module.fc.bias.clone()
    found = load(module, state, strict=False)
    assert found.missing_keys == ["fc.bias"]
    assert found.unexpected_keys == ["head.weight"]
    assert repr(found) == "IncompatibleKeys(missing_keys=['fc.bias'], unexpected_keys=['head.weight'])"
    assert torch.equal(module.fc.weight, state["fc.weight"])
    assert torch.equal(module.fc.bias, bias)


def test_assign_takes_the_tensors_themselves(module):
    state = new_values(module)
    load(module, state, assign=True)
    assert module.norm.running_mean is state["norm.running_mean"]
    assert module.fc.weight.data_ptr() == state["fc.weight"].data_ptr()


def test_assign_fills_a_module_on_meta():
    with torch.device("meta"):
        module = Ours()
    module.load_state_dict(new_values(Ours()), assign=True)
    assert not any(p.is_meta for p in module.parameters())


def test_with_swapped_tensors_a_failed_load_leaves_the_values():
    module = Ours()
    before = values(module)
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        with pytest.raises(StateMismatch):
            module.load_state_dict(broken(module))
        assert same(values(module), before)
        state = new_values(module)
        module.load_state_dict(state)
        assert same(values(module), state)
    finally:
        torch.__future__.set_swap_module_params_on_conversion(False)


def test_a_lazy_layer_stays_lazy_when_a_load_fails():
    module = nn.Sequential(torch.nn.LazyLinear(5), torch.nn.Linear(5, 2))
    state = nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Linear(5, 2)).state_dict()
    with pytest.raises(StateMismatch):
        module.load_state_dict({**state, "1.bias": torch.zeros(7)})
    assert torch.nn.parameter.is_lazy(module[0].weight)
    module.load_state_dict(state)
    assert torch.equal(module[0].weight, state["0.weight"])
    assert module(torch.zeros(1, 3)).shape == (1, 2)


def test_extra_state_is_put_back():
    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.count = 3
            self.fc = torch.nn.Linear(2, 2)

        def get_extra_state(self):
            return {"count": self.count}

        def set_extra_state(self, state):
            self.count = state["count"]

    module = Counting()
    state = Counting().state_dict()
    state["_extra_state"] = {"count": 5}
    with pytest.raises(StateMismatch):
        module.load_state_dict({**state, "fc.bias": torch.zeros(7)})
    assert module.count == 3
    module.load_state_dict(state)
    assert module.count == 5


def test_hooks_run_once_and_see_the_keys():
    module, seen = Ours(), []
    module.register_load_state_dict_pre_hook(lambda _m, state, prefix, *_: state.pop("extra"))
    module.register_load_state_dict_post_hook(lambda _m, keys: seen.append(list(keys.missing_keys)))
    state = {**new_values(module), "extra": torch.zeros(2)}
    module.load_state_dict(state)
    assert seen == [[]]
    assert len(module._load_state_dict_post_hooks) == 1


@pytest.mark.parametrize("good", [True, False])
def test_a_hook_finds_the_new_values_and_a_failed_load_puts_the_old_ones_back(good):
    module, seen = Ours(), []
    module.fc.register_load_state_dict_post_hook(lambda m, _: seen.append(m.weight.detach().clone()))
    before, state = values(module), new_values(module)
    if good:
        module.load_state_dict(state)
        assert same(values(module), state)
    else:
        with pytest.raises(StateMismatch):
            module.load_state_dict({**state, "norm.bias": torch.zeros(11)})
        assert same(values(module), before)
    assert torch.equal(seen[0], state["fc.weight"])


def test_a_method_of_the_users_own_finds_the_new_values():
    class Doubling(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.zeros(3))

        def _load_from_state_dict(self, *args):
            super()._load_from_state_dict(*args)
            with torch.no_grad():
                self.weight.mul_(2)

    module = Doubling()
    module.load_state_dict({"weight": torch.full((3,), 5.0)})
    assert module.weight.eq(10).all()


def test_a_hook_may_forgive_missing_keys():
    module = Ours()
    module.register_load_state_dict_post_hook(lambda _m, keys: keys.missing_keys.remove("fc.bias"))
    state = new_values(module)
    del state["fc.bias"]
    module.load_state_dict(state)
    assert torch.equal(module.fc.weight, state["fc.weight"])


def test_a_hook_that_raises_is_heard_and_nothing_changes():
    module = Ours()
    before = values(module)

    def refuse(_module, state, *_):
        raise RuntimeError("not this one")

    module.norm.register_load_state_dict_pre_hook(refuse)
    with pytest.raises(RuntimeError, match="not this one"):
        module.load_state_dict(new_values(module))
    assert same(values(module), before)


def test_old_files_without_batch_counts_load():
    module = Ours()
    state = new_values(module)
    del state["norm.num_batches_tracked"]
    module.load_state_dict(state)
    assert torch.equal(module.norm.running_var, state["norm.running_var"])


def test_tied_parameters():
    module = nn.Sequential(torch.nn.Embedding(5, 3), torch.nn.Linear(3, 5, bias=False))
    module[1].weight = module[0].weight
    state = new_values(module)
    state["1.weight"] = state["0.weight"]
    module.load_state_dict(state)
    assert module[1].weight is module[0].weight
    assert torch.equal(module[0].weight, state["0.weight"])


def test_a_copied_module_loads_too(module):
    state = new_values(module)
    again = copy.deepcopy(module)
    load(again, state)
    assert same(values(again), state)
    assert not same(values(module), state)


@pytest.mark.parametrize(
    ("change", "hint"),
    [
        (
            lambda state: {f"module.{k}": v for k, v in state.items()},
            "every key begins with 'module.' (DistributedDataParallel's): "
            "load {k.removeprefix('module.'): v for k, v in …}",
        ),
        (
            lambda state: {f"_orig_mod.{k}": v for k, v in state.items()},
            "every key begins with '_orig_mod.' (torch.compile's): "
            "load {k.removeprefix('_orig_mod.'): v for k, v in …}",
        ),
        (
            lambda state: {"epoch": 3, "model": state},
            "'model' holds a dict of its own: load_state_dict(checkpoint['model'])",
        ),
    ],
)
def test_well_known_mistakes(module, change, hint):
    with pytest.raises(StateMismatch) as caught:
        load(module, change(new_values(module)))
    assert caught.value.hint == hint


@pytest.mark.parametrize(("own", "found"), [(3, 5), (5, 3)])
def test_the_wrong_number_of_stages(own, found):
    class Stack(nn.Module):
        def __init__(self, count):
            super().__init__()
            self.stages = torch.nn.Sequential(*[torch.nn.Linear(2, 2) for _ in range(count)])

    with pytest.raises(StateMismatch) as caught:
        Stack(own).load_state_dict(Stack(found).state_dict())
    assert caught.value.hint == (
        f"stages, a Sequential, has {own} layers with parameters, but the state dict has {found}"
    )


def test_a_value_that_is_no_tensor():
    with pytest.raises(StateMismatch, match=r'parameter named "fc\.bias", expected torch\.Tensor .* received .*int'):
        Ours().load_state_dict({**new_values(Ours()), "fc.bias": 3})


def test_what_is_no_dict(module):
    with pytest.raises(
        TypeError, match=r"takes a dict of tensors by key, not a str: read a file with torch\.load first"
    ):
        load(module, "model.pth")


def test_a_load_takes_no_memory_for_a_second_copy():
    module = Ours()
    made = []

    class Watch(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            out = func(*args, **(kwargs or {}))
            if isinstance(out, torch.Tensor) and not out.is_meta:
                made.append((str(func), out.data_ptr()))
            return out

    own = {t.data_ptr() for t in (*module.parameters(), *module.buffers())}
    state = new_values(module)
    with Watch():
        module.load_state_dict(state)
    assert {name for name, at in made if at not in own} == set()
