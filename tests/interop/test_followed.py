"""What the follower knows of a module that isn't known but for its signature."""

from __future__ import annotations

import pytest

from simpletorch.follow import follow

HEAD = """
from typing import Any, NamedTuple, Protocol
import torch
from torch import nn
import elsewhere
from simpletorch import Float32, Int64, Tensor
from simpletorch.dims import B, D, T
from simpletorch.interop import hub, typed

class Encodes(Protocol):
    def __call__(
        self, ids: Tensor[Int64, B, T], mask: Tensor[Int64, B, T] | None = None
    ) -> Tensor[Float32, B, T, 21]: ...

def encodes(ids: Tensor[Int64, B, T]) -> Tensor[Float32, B, T, 21]: ...

class Known(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(53, 21)
    def forward(self, ids):
        return self.embedding(ids)

ids = torch.zeros(2, 5, dtype=torch.int64)
encoder = typed(elsewhere.load("encoder"), Encodes)
other = typed(elsewhere.load("encoder"), signature=encodes)
known = typed(Known(), Encodes)
"""


def followed(tmp_path, source):
    path = tmp_path / "program.py"
    path.write_text(HEAD + source)
    return follow(path)


@pytest.mark.parametrize(
    ("source", "shape"),
    [
        ("encoder(ids)", "Float32[2, 5, 21]"),
        ("encoder(ids, mask=ids)", "Float32[2, 5, 21]"),
        ("other(ids[:, :3])", "Float32[2, 3, 21]"),
        ("encoder.eval().to('cpu')(ids)", "Float32[2, 5, 21]"),
        ("known(ids)", "Float32[2, 5, 21]"),
        ("nn.Sequential(encoder, nn.Linear(21, 3))(ids)", "Float32[2, 5, 3]"),
    ],
)
def test_a_call_gives_what_the_signature_says(tmp_path, source, shape):
    found = followed(tmp_path, f"y = {source}\nreveal_type(y)\n")
    assert [*found.errors] == []
    (note,) = found.notes
    assert f'"{shape}"' in str(note)


def test_what_does_not_fit_the_signature_is_an_error(tmp_path):
    (error,) = followed(tmp_path, "encoder(ids.float())\n").errors
    assert "Encodes: ids is Float32, but should be Int64" in error.lines()[0]
    (error,) = followed(tmp_path, "nn.Linear(7, 3)(other(ids))\n").errors
    assert "the last dim of input is 21, but the layer takes 7 features" in error.lines()[0]


def test_nothing_is_said_of_what_the_signature_leaves_open(tmp_path):
    found = followed(
        tmp_path,
        """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = typed(elsewhere.load("encoder"), encodes)
        self.head = nn.Linear(21, 3)
    def forward(self, ids):
        return self.head(self.encoder(ids))

model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch.optim.SGD(encoder.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    model(ids).sum().backward()
    optimizer.step()
encoder.config.width + 5
encoder(ids, use_cache=True).anything.else_
encoder(ids, ids, ids, ids)
print(sum(p.numel() for p in encoder.parameters()), encoder.state_dict())
""",
    )
    assert [finding.lines() for finding in (*found.errors, *found.warnings)] == []


RESULTS = """
class States(Protocol[B, T, D]):
    states: Tensor[Float32, B, T, D]
    twice: Tensor[Float32, B, "2*T"]
    text: Tensor[Float32, B, 21] | None
    past: Any

class Pair(NamedTuple):
    first: Tensor[Float32, B, T]

class Gives(Protocol):
    def __call__(self, ids: Tensor[Int64, B, T]) -> States[B, T, 21]: ...

def turned(ids: Tensor[Int64, B, T]) -> "States[T, B, 7]": ...
def pair(ids: Tensor[Int64, B, T]) -> Pair: ...

made = typed(elsewhere.load("encoder"), Gives)(ids)
"""


@pytest.mark.parametrize(
    ("source", "shape"),
    [
        ("made.states", "Float32[2, 5, 21]"),
        ("made.twice", "Float32[2, ?]"),
        ("typed(elsewhere.load(''), turned)(ids).states", "Float32[5, 2, 7]"),
        ("typed(elsewhere.load(''), pair)(ids).first", "Float32[2, 5]"),
        ("hub.load('a/b', 'c', trust=True, signature=Gives)(ids).states", "Float32[2, 5, 21]"),
    ],
)
def test_a_result_has_the_tensors_that_are_stated(tmp_path, source, shape):
    found = followed(tmp_path, f"{RESULTS}y = {source}\nreveal_type(y)\n")
    assert [*found.errors] == []
    (note,) = found.notes
    assert f'"{shape}"' in str(note)


def test_what_a_stated_result_does_not_fit_is_an_error(tmp_path):
    (error,) = followed(tmp_path, f"{RESULTS}nn.Linear(20, 3)(made.states)\n").errors
    assert "the last dim of input is 21, but the layer takes 20 features" in error.lines()[0]


def test_nothing_is_said_of_the_rest_of_a_stated_result(tmp_path):
    found = followed(
        tmp_path,
        RESULTS
        + """
for x in made:
    print(x + 1)
first, second = made
print(made.text.shape, made.past.x, made.other, made[0], made["states"], len(made), made.keys(), dict(**made))
made.states = ids
nn.Linear(5, 3)(made.states.float())
if made.text is not None:
    made.text.foo()
""",
    )
    assert [finding.lines() for finding in (*found.errors, *found.warnings)] == []


OF_TASKS = "from simpletorch.interop import from_transformers\nbert = from_transformers(elsewhere.config)\n"


@pytest.mark.parametrize(
    ("source", "shape"),
    [
        ("bert(ids, attention_mask=ids).last_hidden_state", "Tensor[2, 5, ?]"),
        ("bert(**{'input_ids': ids, 'token_type_ids': ids}).last_hidden_state", "Tensor[2, 5, ?]"),
        ("from_transformers('gpt2', 'causal-lm')(ids[:, -1:], labels=None).logits", "Tensor[2, 1, ?]"),
        ("from_transformers('t5', task='seq2seq-lm')(ids, labels=ids[:, :3]).logits", "Tensor[2, 3, ?]"),
        ("from_transformers('b', 'sequence-classification').eval()(ids).logits", "Tensor[2, ?]"),
        ("from_transformers('b', 'question-answering')(ids).start_logits", "Tensor[2, 5]"),
        ("nn.Linear(21, 7)(bert(ids).last_hidden_state[:, 0])", "Tensor[2, 7]"),
    ],
)
def test_models_of_transformers(tmp_path, source, shape):
    found = followed(tmp_path, f"{OF_TASKS}y = {source}\nreveal_type(y)\n")
    assert [*found.errors] == []
    (note,) = found.notes
    assert f'"{shape}"' in str(note)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ("bert(ids.float())", "HiddenStates.forward: input_ids is Float32, but should be Int64"),
        ("bert(ids[0])", "HiddenStates.forward: input_ids has 1 dim, not 2"),
        ("bert(ids, token_type_ids=ids[:, :3])", "dim 1 of token_type_ids is 3, but T is 5 from dim 1 of input_ids"),
        ("from_transformers('gpt2', 'causal-lm')(ids, labels=ids[:1])", "dim 0 of labels is 1, but B is 2"),
    ],
)
def test_what_does_not_fit_a_task(tmp_path, call, sentence):
    (error,) = followed(tmp_path, f"{OF_TASKS}{call}\n").errors
    assert sentence in error.lines()[0]


def test_nothing_is_said_of_what_else_transformers_models_do(tmp_path):
    found = followed(
        tmp_path,
        OF_TASKS
        + """
output = bert(ids, mask, output_hidden_states=True, return_dict=False) if elsewhere.old else bert(inputs_embeds=x)
print(output[0], output["pooler_output"].shape, output.hidden_states[-1].shape, len(output), output.keys())
gpt = from_transformers("gpt2", "causal-lm", revision="main")
gpt.train()
loss, logits = gpt(ids, labels=ids)[:2]
gpt(ids, labels=ids).loss.backward()
gpt(ids, logits_to_keep=1).logits.view(2, 1, 53)
print(gpt.generate(ids, max_new_tokens=3).shape, gpt.config.vocab_size, from_transformers("b", elsewhere.task)(3))
""".replace("mask", "ids").replace("inputs_embeds=x", "inputs_embeds=torch.zeros(2, 5, 7)"),
    )
    assert [finding.lines() for finding in (*found.errors, *found.warnings)] == []


def test_models_that_two_branches_make(tmp_path):
    found = followed(
        tmp_path,
        """
from simpletorch.interop import from_transformers

def make(kind):
    if kind == elsewhere.kind:
        return from_transformers("b")(ids).last_hidden_state
    elif kind == elsewhere.other:
        return from_transformers("c")(ids[:, :3]).last_hidden_state
    raise ValueError(kind)

make("b")
y = from_transformers("d", "causal-lm")(ids).logits
reveal_type(y)
output = typed(elsewhere.load(""), encodes)(ids)
""",
    )
    assert [*found.errors] == []
    assert '"Tensor[2, 5, ?]"' in str(found.notes[-1])


def test_what_a_record_is_an_instance_of_is_not_known(tmp_path):
    found = followed(
        tmp_path,
        RESULTS
        + """
reveal_type(isinstance(typed(elsewhere.load(""), pair)(ids), Pair))
""",
    )
    assert "unknown" in str(found.notes[-1])


def test_the_tasks_are_those_of_from_transformers():
    from simpletorch.follow.libraries.pytorch import torch_interop
    from simpletorch.interop import _transformers

    stated = {task: signature.__name__ for task, (_, signature) in _transformers._TASKS.items()}
    assert dict(torch_interop._SIGNATURES) == stated
