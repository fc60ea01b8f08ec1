"""What holds how much of a device, by name."""

import torch
from torch import nn

from simpletorch import cuda


def trained(device: torch.device) -> tuple[nn.Module, torch.optim.Optimizer]:
    network = nn.Sequential(nn.Linear(311, 211), nn.BatchNorm1d(211)).to(device)
    optimizer = torch.optim.Adam(network.parameters())
    network(torch.randn(13, 311, device=device)).sum().backward()
    optimizer.step()
    return network, optimizer


def test_memory_is_named_by_what_it_is_for():
    device = cuda.current_stream().device
    network, optimizer = trained(device)
    some_input = torch.zeros(401, 409, device=device)
    report = cuda.memory()
    found = {h.name: h for h in report.holdings}
    weight = found["network.0.weight"]
    assert (weight.purpose, weight.type_text, weight.bytes) == ("parameters", "Float32[211, 311]", 211 * 311 * 4)
    assert found["network.0.weight.grad"].purpose == "gradients"
    assert found["network.1.running_mean"].purpose == "buffers"
    assert found["Adam: exp_avg of network.0.weight"].purpose == "optimizer"
    assert (found["some_input"].purpose, found["some_input"].bytes) == ("other tensors", some_input.nbytes)
    assert report.allocated == sum(report.by_purpose().values()) >= some_input.nbytes + 4 * weight.bytes
    assert cuda.memory_allocated() >= some_input.nbytes
    assert optimizer.param_groups[0]["params"][0] is network.get_parameter("0.weight")  # alive until here


def test_a_lazy_layer_that_has_no_memory_yet_is_passed_over():
    lazy = nn.Sequential(nn.LazyLinear(7))
    assert not any("lazy" in h.name for h in cuda.memory("cpu").holdings)
    assert isinstance(lazy[0], nn.LazyLinear)


def test_what_was_never_made_is_passed_over():
    shells = nn.Linear.__new__(nn.Linear), torch.optim.Adam.__new__(torch.optim.Adam)
    made = torch.zeros(503)
    assert [h.type_text for h in cuda.memory("cpu").holdings if h.bytes == made.nbytes] == ["Float32[503]"]
    assert len(shells) == 2


def test_views_and_shared_storages_count_once():
    base = torch.zeros(503, 509)
    views = [base[i:] for i in range(5)]
    found = [h for h in cuda.memory("cpu").holdings if h.bytes == base.nbytes]
    assert [h.type_text for h in found] == ["Float32[503, 509]"]
    assert len(views) == 5


def test_the_picture_as_text_and_as_a_page(tmp_path):
    network, optimizer = trained(torch.device("cpu"))
    report = cuda.memory("cpu")
    text = str(report)
    assert text.startswith("cpu: ")
    assert "parameters" in text
    assert "█" in text
    page = report.html(tmp_path / "memory.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert 'title="network.0.weight  Float32[211, 311]  256.33 KiB"' in page
    assert optimizer.param_groups[0]["params"][0] is network.get_parameter("0.weight")  # alive until here


def test_counters_and_the_cache():
    cuda.empty_cache()
    assert isinstance(cuda.memory_stats(), dict)
