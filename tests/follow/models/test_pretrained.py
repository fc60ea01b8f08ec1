"""``from_pretrained`` of transformers: models, configurations and tokenizers of a folder or of the hub's cache."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
import torch

from simpletorch.follow import follow
from simpletorch.follow.disk.reach import Reach, folders_of
from tests.follow.programs import difference, follow_source, run_source

pytestmark = pytest.mark.neighbour("transformers")

_SIZES = {"num_hidden_layers": 2, "num_attention_heads": 6, "intermediate_size": 96, "hidden_size": 48}
_WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "c", "hello", "world"]
_VOCABULARY = {w: i for i, w in enumerate(_WORDS)}


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    """Small models, each in a folder, as the library saves them."""
    import transformers as t

    folder = tmp_path_factory.mktemp("models")
    (folder / "pyproject.toml").write_text("")
    sizes = {**_SIZES, "vocab_size": 101}
    t.BertForSequenceClassification(t.BertConfig(**sizes, num_labels=5)).save_pretrained(folder / "bert")
    gpt = t.GPT2Config(vocab_size=101, n_embd=48, n_layer=2, n_head=3, n_positions=64)
    t.GPT2LMHeadModel(gpt).to(torch.bfloat16).save_pretrained(folder / "gpt2")
    t.LlamaForCausalLM(t.LlamaConfig(**sizes, num_key_value_heads=2)).save_pretrained(folder / "llama")
    t.ViTForImageClassification(t.ViTConfig(**_SIZES, image_size=64, num_labels=7)).save_pretrained(folder / "vit")
    t.BertTokenizerFast(vocab=_VOCABULARY, model_max_length=64).save_pretrained(folder / "bert")
    return folder


@pytest.fixture
def here(models, monkeypatch) -> Path:
    monkeypatch.chdir(models)
    return models


def program(source: str) -> str:
    """A program with the imports that it needs."""
    names = sorted(set(re.findall(r"\b(?:Auto|Bert|GPT2)\w*", source)))
    return f"import torch\nfrom transformers import {', '.join(names)}\nids = torch.randint(0, 101, (2, 17))\n{source}"


_TEXTS = "texts = ['a b', 'hello world a']\ntok = AutoTokenizer.from_pretrained('bert')\n"

RIGHT = {
    "a configuration": "n = AutoConfig.from_pretrained('bert').hidden_size\n"
    "m = BertConfig.from_pretrained('bert').num_labels",
    "a base": "y = AutoModel.from_pretrained('bert')(ids).last_hidden_state",
    "a head": "m = AutoModelForSequenceClassification.from_pretrained('bert')\ny = m(ids).logits\nt = m.training",
    "other classes": "m = AutoModelForSequenceClassification.from_pretrained('bert', num_labels=3, "
    "ignore_mismatched_sizes=True)\nout = m(ids, labels=torch.tensor([1, 0]))\ny, loss = out.logits, out.loss\ndel out",
    "an argument of the model": "y = BertModel.from_pretrained('bert', add_pooling_layer=False)(ids).last_hidden_state",
    "the dtype of the weights": "m = AutoModelForCausalLM.from_pretrained('gpt2')\ny = m(ids).logits\n"
    "w = m.transformer.wte.weight\nk = m.transformer.h[0].attn.c_attn.weight",
    "another dtype": "y = GPT2LMHeadModel.from_pretrained('gpt2', dtype=torch.float32)(ids).logits",
    "a dtype in words": "y = GPT2LMHeadModel.from_pretrained('gpt2', torch_dtype='float32')(ids).logits",
    "grouped queries": "y = AutoModelForCausalLM.from_pretrained('llama')(ids).logits",
    "images": "y = AutoModelForImageClassification.from_pretrained('vit')(torch.zeros(2, 3, 64, 64)).logits",
    "a changed configuration": "config = AutoConfig.from_pretrained('bert', num_hidden_layers=1)\n"
    "m = AutoModel.from_pretrained('bert', config=config)\nn = len(m.encoder.layer)",
    "from its configuration": "m = AutoModel.from_config(AutoConfig.from_pretrained('bert'))\nt = m.training",
    "more tokens": "m = GPT2LMHeadModel.from_pretrained('gpt2')\ne = m.resize_token_embeddings(127).weight\n"
    "y = m(ids).logits\nv = m.config.vocab_size",
    "tokens in eights": "m = AutoModel.from_pretrained('bert')\nm.resize_token_embeddings(103, pad_to_multiple_of=8)\n"
    "w = m.embeddings.word_embeddings.weight",
    "in a module": "class Net(torch.nn.Module):\n"
    "    def __init__(self):\n        super().__init__()\n        self.base = AutoModel.from_pretrained('bert')\n"
    "        self.head = torch.nn.Linear(self.base.config.hidden_size, 3)\n"
    "    def forward(self, x):\n        return self.head(self.base(x).pooler_output)\n"
    "y = Net()(ids)",
    "a tokenizer": _TEXTS + "n, m, v = len(tok), tok.model_max_length, tok.vocab_size",
    "padded to a length": _TEXTS
    + "e = tok(texts, padding='max_length', truncation=True, max_length=32, return_tensors='pt')\n"
    "i, t, a, n = e['input_ids'], e.token_type_ids, e.attention_mask, len(e)\n"
    "y = AutoModel.from_pretrained('bert')(**e).last_hidden_state\n"
    "z = AutoModel.from_pretrained('bert')(**{k: v.to('cpu') for k, v in e.items()}).last_hidden_state\ndel e",
    "padded to the model's length": _TEXTS
    + "i = tok(texts, padding='max_length', truncation=True, return_tensors='pt').to('cpu')['input_ids']",
}


def compared(source: str, path: Path) -> list[str]:
    """What is wrong, or isn't known, in what the follower says of a program that runs."""
    real = run_source(source, path)
    claimed, reports = follow_source(source, path, reach=Reach(folders_of(path), path.parent))
    found = [f"false: {report}" for report in reports]
    for name, value in real.items():
        if isinstance(value, torch.Tensor | int):
            wrong = difference(claimed.get(name), value, lenient=name == "v")
            found += [f"{name}: {wrong}"] if wrong else []
    return found


@pytest.mark.parametrize("name", RIGHT)
def test_a_model_of_a_folder_is_the_one_that_the_library_makes(here, name):
    assert compared(program(RIGHT[name]), here / "p.py") == []


def test_the_length_of_padded_rows_is_not_known(here):
    (here / "p.py").write_text(
        program(_TEXTS + "i = tok(texts, padding=True, return_tensors='pt').input_ids\nreveal_type(i)")
    )
    assert [n.message for n in follow("p.py").notes] == ['Revealed type is "Int64[2, 0..]"']


WRONG = {
    "its head": "m = AutoModel.from_pretrained('bert')\ny = torch.nn.Linear(768, 5)(m(ids).pooler_output)",
    "its states": "m = AutoModel.from_pretrained('vit')\n"
    "y = m(torch.zeros(2, 3, 64, 64)).last_hidden_state.view(2, 17, 3, 17)",
    "too long": "AutoModelForCausalLM.from_pretrained('gpt2')(torch.randint(0, 101, (2, 80)))",
    "its classes": "m = AutoModelForSequenceClassification.from_pretrained('bert')\n"
    "loss = torch.nn.functional.cross_entropy(m(ids).logits, torch.zeros(3, dtype=torch.long))",
    "its dtype": "m = AutoModelForCausalLM.from_pretrained('gpt2')\n"
    "y = torch.zeros(48, 5).T @ m.transformer(ids)[0].mT",
    "a tokenizer's rows": _TEXTS + "i = tok(texts, padding='max_length', truncation=True, max_length=32, "
    "return_tensors='pt').input_ids\ny = i + torch.zeros(2, 31)",
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_found(here, name):
    path = here / "p.py"
    with pytest.raises((RuntimeError, ValueError, IndexError)):
        run_source(program(WRONG[name]), path)
    assert len(follow("p.py").errors) == 1


UNKNOWN = {
    "code in the folder": "AutoModel.from_pretrained('own', trust_remote_code=True)",
    "no folder": "AutoModel.from_pretrained('nowhere/model')",
    "another name": "AutoModel.from_pretrained(input())",
    "quantized": "AutoModel.from_pretrained('bert', load_in_4bit=True)",
    "saved before": "BertModel(BertConfig()).save_pretrained('bert')\nm = AutoModel.from_pretrained('bert')\nm",
    "another kind": "GPT2Model.from_pretrained('bert')",
    "broken": "AutoModel.from_pretrained('broken')",
    "another cache": "import os\nos.environ['HF_HOME'] = 'x'\nm = AutoModel.from_pretrained('org/name')\nm",
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_model_that_is_not_known_is_unknown(here, name):
    config = json.loads((here / "bert" / "config.json").read_text())
    for folder in ("own", "broken"):
        (here / folder).mkdir(exist_ok=True)
    (here / "own" / "config.json").write_text(json.dumps({**config, "auto_map": {"AutoModel": "model.Net"}}))
    (here / "broken" / "config.json").write_text("{" * 100_000)
    *before, last = UNKNOWN[name].split("\n")
    source = "\n".join([*before, f"reveal_type({last})", "x = torch.zeros(3) + torch.ones(2)"])
    (here / "p.py").write_text(program(source))
    found = follow("p.py")
    assert found.notes[0].message.startswith('Revealed type is "unknown')
    assert len(found.errors) == 1  # it goes on


def test_a_model_of_the_cache_of_the_hub(models, tmp_path, monkeypatch):
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    repository = tmp_path / "home" / "hub" / "models--org--name"
    for part in ("blobs", "refs", "snapshots/abc"):
        (repository / part).mkdir(parents=True)
    (repository / "refs" / "main").write_text("abc")
    (repository / "blobs" / "123").write_bytes((models / "bert" / "config.json").read_bytes())
    os.symlink("../../blobs/123", repository / "snapshots" / "abc" / "config.json")
    asked = ('"org/name")(ids).last_hidden_state', '"org/name", revision="other")')
    Path("p.py").write_text(program("\n".join(f"reveal_type(AutoModel.from_pretrained({a})" for a in asked)))
    known, unknown = (n.message for n in follow("p.py").notes)
    assert known == 'Revealed type is "Float32[2, 17, 48]"'
    assert unknown.startswith('Revealed type is "unknown')
    assert follow("p.py", data=False).notes[0].message.startswith('Revealed type is "unknown')
