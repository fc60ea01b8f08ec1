"""A Llama whose layers, stages and texts are divided: the shapes among 1,024 processes, and the numbers among four."""

import pytest
import torch

from simpletorch.distributed import Mesh, context_parallel, parallelize
from simpletorch.nn import FeedForward
from tests import meeting
from tests.distributed import composed

BLOCK = ("q_proj", "k_proj", "v_proj", "o_proj")


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> dict:
    folder = tmp_path_factory.mktemp("fake")
    meeting.start(composed.fake, (folder,), 1)
    return torch.load(folder / "shapes.pt")


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    folder = tmp_path_factory.mktemp("four")
    meeting.start(composed.four, (folder,), 4)
    return [torch.load(folder / f"{rank}.pt") for rank in range(4)]


def alone(length: int) -> dict:
    model = composed.llama()
    return composed.train(model, composed.plainly(model, *composed.text(length)))


@pytest.mark.slow
def test_a_llama_among_a_thousand(shapes: dict):
    # 512 rows: the first 512 of 1,024 processes have one each, and this is number 777
    assert shapes["fsdp"]["self_attn.q_proj"] == (0, 512)
    assert shapes["fsdp"]["mlp.up_proj"] == (0, 512)
    assert shapes["tensor"] == {
        "self_attn.q_proj": (64, 512),
        "self_attn.k_proj": (32, 512),
        "self_attn.o_proj": (512, 64),
        "mlp.up_proj": (176, 512),
        "mlp.down_proj": (512, 176),
        "norm": (512,),
        "embed": (4000, 512),
    }
    assert shapes["fsdp + tensor"]["self_attn.o_proj"] == (4, 64)
    assert shapes["hybrid + tensor"]["self_attn.q_proj"] == (2, 512)
    assert shapes["hybrid + tensor"]["mlp.down_proj"] == (16, 176)
    assert shapes["hybrid + tensor"]["norm"] == (16,)


@pytest.mark.slow
def test_sequences_among_a_thousand(shapes: dict):
    """Parameters are divided as without: by the layers' processes, and along context as along data."""
    assert shapes["fsdp + sequence"] == shapes["fsdp + tensor"]
    assert shapes["fsdp + context"] == shapes["fsdp + tensor"]
    assert shapes["hybrid + context + tensor"] == shapes["hybrid + tensor"]
    assert shapes["context"] == shapes["fsdp"]


@pytest.mark.slow
def test_the_first_a_middle_and_the_last_stage_among_a_thousand(shapes: dict):
    # the embedding and the head have 16.4 million values each, a layer 2.9: a stage each of the layers' stages of two
    found = {key: shapes[key] for key in shapes if "pipeline" in key[0]}
    assert [found["pipeline", rank][0] for rank in (0, 300, 1023)] == [0, 4, 7]
    assert found["pipeline", 0][1] == {"model.embed_tokens.weight": (32000, 512)}
    assert found["pipeline", 1023][1] == {"lm_head.weight": (32000, 512)}
    middle = found["pipeline", 300][1]
    assert {name.split(".")[2] for name in middle} == {"6"}
    assert {middle[f"model.layers.6.self_attn.{name}.weight"] for name in BLOCK} == {(512, 512), (256, 512)}

    assert [found["pipeline + fsdp", rank][0] for rank in (0, 300, 1023)] == [0, 1, 3]
    assert found["pipeline + fsdp", 0][1] == {"model.embed_tokens.weight": (125, 512)}
    assert found["pipeline + fsdp", 300][1]["model.layers.4.mlp.down_proj.weight"] == (2, 1408)
    assert found["pipeline + tensor", 300][1]["model.layers.0.mlp.down_proj.weight"] == (512, 176)
    assert found["pipeline + tensor", 1023][1] == {"lm_head.weight": (4000, 512)}
    assert found["pipeline + fsdp + tensor", 300][1]["model.layers.0.mlp.down_proj.weight"] == (16, 176)
    assert found["pipeline + fsdp + tensor", 1023][1] == {"lm_head.weight": (125, 512)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "length"),
    [("pipeline + data", 11), ("pipeline + tensor", 11), ("data + sequence", 11), ("data + context", 12)],
)
def test_four_processes_train_as_one(four: list[dict], name: str, length: int):
    one = alone(length)
    seen: set[str] = set()
    for process in four:
        assert process[name]["losses"] == pytest.approx(one["losses"], rel=1e-6)
        for key, value in process[name]["state"].items():
            torch.testing.assert_close(value, one["state"][key], rtol=1e-5, atol=1e-6)
        seen |= process[name]["state"].keys()
    assert seen == one["state"].keys()


@pytest.mark.slow
def test_each_process_has_its_part_of_the_tokens(four: list[dict]):
    assert [process["data + sequence"]["between"] for process in four] == [(6, 6, 12), (6, 5, 12)] * 2
    front_and_back = [[0, 1, 2, 9, 10, 11], [3, 4, 5, 6, 7, 8]]
    assert [process["data + context"]["places"] for process in four] == front_and_back * 2


@pytest.mark.slow
def test_what_a_context_cannot_be(four: list[dict]):
    for process in four:
        uneven, masked, without = process["refused"]
        assert "these sequences can't be cut into 4 equal parts, two for each process:\n    tensor 0: 10" in uneven
        assert "attention with a mask can't go round a ring" in masked
        assert "context_parallel has no ring attention for this kernel: Operator aten._scaled" in without
        assert "torch.nn.attention.sdpa_kernel" in without


def test_on_one_process_sequences_are_whole():
    tokens, targets = composed.text(7)
    with context_parallel(Mesh(context=-1), tokens, targets) as (part, its_targets):
        assert part is tokens
        assert its_targets is targets
    model = composed.llama()
    assert parallelize(model, Mesh(tensor=-1), sequence=True) is model


def test_sequences_of_other_models_are_not_divided():
    with pytest.raises(ValueError, match="how the layers of a FeedForward pass on tokens isn't known"):
        parallelize(FeedForward(6, 10), Mesh(tensor=2), sequence=True)
    with pytest.raises(ValueError, match="has a plan of its own: leave plan= out"):
        parallelize(FeedForward(6, 10), Mesh(tensor=2), {"*": "out"}, sequence=True)
