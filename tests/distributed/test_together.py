"""Two processes: what collectives give, what data parallel training comes to, and what is refused, in one launch."""

from pathlib import Path

import pytest
import torch

from tests.distributed.launching import torchrun


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("together")
    script = Path(__file__).parent / "together.py"
    printed, errors, status = torchrun(script, environment={"FOLDER": str(folder)})
    assert status == 0, errors
    done = [torch.load(folder / f"done-{rank}", weights_only=False) for rank in (0, 1)]
    return {"printed": printed, "errors": errors, "done": done}


def test_who_is_who(ranks):
    first, second = ranks["done"]
    assert (first["group"], second["group"]) == ((0, 0, 2, True), (1, 1, 2, False))
    assert first["again"] == "cpu"  # a second init changes nothing
    assert first["pid"] != second["pid"]


def test_only_the_main_process_prints_and_logs(ranks):
    assert ranks["printed"].count("one of the two says this") == 1
    assert ranks["printed"].count("epoch 2: loss") == 1
    assert ranks["done"][0]["fitted"]["files"] == ["log-0.csv"]


def test_collectives_give_what_their_sentences_say(ranks):
    x = torch.arange(12.0).reshape(2, 6)
    y = x + 100
    both = torch.cat([x, y])
    expected = {
        "all_reduce": (x + y, x + y),
        "max": (y, y),
        "mean": ((x + y) / 2, (x + y) / 2),
        "all_gather": (both, both),
        "all_gather 1": (torch.cat([x, y], 1),) * 2,
        "reduce_scatter": tuple((x + y).chunk(2)),
        "reduce_scatter 1": tuple((x + y).chunk(2, 1)),
        "broadcast": (y, y),
        "all_to_all": tuple(torch.cat([x.chunk(2, 1)[r], y.chunk(2, 1)[r]], 1) for r in (0, 1)),
        "gather": (None, both),
        "scatter": tuple(y.chunk(2, 1)),
        "transposed": (torch.cat([x.T, y.T]),) * 2,
    }
    for rank, done in enumerate(ranks["done"]):
        assert done["collectives"].keys() == expected.keys()
        for name, values in expected.items():
            got = done["collectives"][name]
            assert got is None if values[rank] is None else torch.equal(got, values[rank]), (rank, name)


def test_mismatched_collectives_are_an_error_at_once_on_every_rank(ranks):
    for done in ranks["done"]:
        told = done["mismatches"]
        assert "rank 0 runs all_reduce of Float32[7], SUM, rank 1 runs all_reduce of Float32[3], SUM" in told["shapes"]
        assert "rank 0 runs all_gather of Float32[3], rank 1 runs all_gather of Float64[3]" in told["dtypes"]
        assert "rank 0 runs all_reduce of Float32[3], SUM, rank 1 runs broadcast of Float32[3], src=0" in told["calls"]
        assert "has 3 entries, which 2 processes can't share equally" in told["sizes"]
        assert "broadcast got src=2: there are 2 processes" in told["rank"]
        assert torch.equal(told["after"], torch.full((3,), 2.0))  # and the group goes on


@pytest.mark.parametrize("steps", ["even", "accumulated"])
def test_two_processes_learn_as_one_from_the_whole_batches(ranks, steps):
    (together, alone), (other, _) = (done[steps] for done in ranks["done"])
    assert torch.equal(together, other)
    torch.testing.assert_close(together, alone, rtol=1e-6, atol=1e-6)


def test_a_trainer_s_measures_are_those_of_all(ranks):
    first, second = (done["fitted"] for done in ranks["done"])
    assert first == second
    (loss, samples, steps, validation, training), _ = first["history"]
    assert (samples, steps) == (24, 4)
    assert validation["accuracy"] * 7 == pytest.approx(round(validation["accuracy"] * 7))  # of all 7, each once
    assert training["accuracy"] * 24 == pytest.approx(round(training["accuracy"] * 24))
    assert loss > 0


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("everything", "reads every sample, as those of the other 1 do"),
        ("batches", "the ranks have different numbers of batches: 2 on rank 0, 1 on rank 1"),
        ("kind", "parallel is 'dpp': it must be one of 'ddp'"),
        ("twice", "the model is replicated already"),
        ("compress", "compress is 'int8'"),
        ("frozen", "the model has no parameter that requires a gradient"),
        ("launch", "launch starts processes, and this is rank"),
    ],
)
def test_what_can_t_be_shared_is_refused_on_every_rank(ranks, what, words):
    for done in ranks["done"]:
        assert words in done["refused"][what]


def test_a_parameter_without_gradient_is_named(ranks):
    for done in ranks["done"]:
        assert "parameters (spare.weight, spare.bias) got no gradient in the last step" in done["unused"]


def test_compressed_gradients_agree(ranks):
    for done in ranks["done"]:
        (one, other), wrapper = done["compressed"]
        assert torch.equal(one, other)
        assert wrapper == "DistributedDataParallel"
