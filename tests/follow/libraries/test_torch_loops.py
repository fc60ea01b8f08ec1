"""Training loops in the wrong order, schedules in the wrong unit, loaders of the wrong data; and what looks alike."""

import warnings
from pathlib import Path
from textwrap import indent

import pytest
import torch
from scripts import Scripts

HEAD = """import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim import lr_scheduler
from torch.optim.lr_scheduler import CosineAnnealingLR, OneCycleLR, StepLR
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, TensorDataset, random_split
from torch.utils.data.sampler import BatchSampler, RandomSampler, SubsetRandomSampler, WeightedRandomSampler

torch.manual_seed(0)
EPOCHS = 3
inputs, targets = torch.randn(35, 7), torch.randint(0, 5, (35,))
dataset = TensorDataset(inputs, targets)
"""
SETUP = """
loader = DataLoader(dataset, batch_size=5)
model = nn.Sequential(nn.Linear(7, 11), nn.ReLU(), nn.Linear(11, 5))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""


def loop(batch: str = "", epoch: str = "", *, before: str = "", setup: str = "") -> str:
    """A training script: what is done after each step, after each epoch, and before it."""
    body = "optimizer.zero_grad()\nloss = F.cross_entropy(model(x), y)\nloss.backward()\noptimizer.step()\n" + batch
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    inner = "    model.train()\n    for x, y in loader:\n" + lines
    rest = "".join(f"    {line}\n" for line in epoch.splitlines())
    return f"{SETUP}{setup}for epoch in range(EPOCHS):\n{before}{inner}{rest}    print(epoch, loss.item())\n"


COSINE = "scheduler = CosineAnnealingLR(optimizer, T_max=EPOCHS)\n"
CYCLE = "scheduler = OneCycleLR(optimizer, max_lr=0.1, epochs=EPOCHS, steps_per_epoch=len(loader))\n"
STEP = "scheduler = StepLR(optimizer, step_size=2)\n"
CLIP = "torch.nn.utils.clip_grad_norm_(model.parameters(), 0.01)"
FUNCTIONS = (
    SETUP
    + """
def train_one_epoch(model, loader, optimizer, scheduler):
    model.train()
    total = 0.0
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        INNER
        total += loss.item()
    return total / len(loader)

def main():
    scheduler = SCHEDULER
    for epoch in range(EPOCHS):
        print(train_one_epoch(model, loader, optimizer, scheduler))
        OUTER
    return scheduler

if __name__ == "__main__":
    scheduler = main()
"""
)


def functions(scheduler: str, inner: str = "pass", outer: str = "pass") -> str:
    """A script with a function for an epoch."""
    return FUNCTIONS.replace("SCHEDULER", scheduler).replace("INNER", inner).replace("OUTER", outer)


def moved(line: str, before: str, source: str | None = None) -> str:
    """The loop with a line of it in front of another one."""
    lines = (source or loop()).splitlines(keepends=True)
    taken = next(v for v in lines if v.strip() == line)
    lines.remove(taken)
    lines.insert(next(i for i, v in enumerate(lines) if v.strip() == before), taken)
    return "".join(lines)


EARLY = {  # torch warns
    "with each epoch": loop(before="    scheduler.step()\n", setup=STEP),
    "with each batch": loop(setup=COSINE).replace(
        "        optimizer.step()\n", "        scheduler.step()\n        optimizer.step()\n"
    ),
    "in a function": functions("StepLR(optimizer, 2)").replace(
        "        optimizer.step()\n", "        scheduler.step()\n        optimizer.step()\n"
    ),
    "one of torch's others": loop(
        before="    scheduler.step()\n", setup="scheduler = lr_scheduler.LambdaLR(optimizer, lambda i: 0.9**i)\n"
    ),
    "at the start": loop(setup=STEP + "scheduler.step()\n", epoch="scheduler.step()"),
}
UNIT = {  # with what is true of the schedule at the end
    "OneCycleLR with each epoch": (loop(epoch="scheduler.step()", setup=CYCLE), "scheduler.last_epoch == EPOCHS"),
    "OneCycleLR with each epoch, in a function": (
        functions("OneCycleLR(optimizer, 0.1, total_steps=EPOCHS * len(loader))", outer="scheduler.step()"),
        "scheduler.last_epoch == EPOCHS",
    ),
    "a cosine for epochs with each batch": (
        loop(batch="scheduler.step()", setup=COSINE),
        "scheduler.last_epoch == 7 * EPOCHS",
    ),
    "a cosine for epochs with each batch, in a function": (
        functions("CosineAnnealingLR(optimizer, EPOCHS)", inner="scheduler.step()"),
        "scheduler.last_epoch == 7 * EPOCHS",
    ),
    "a cosine for batches with each epoch": (
        loop(epoch="scheduler.step()", setup=COSINE.replace("T_max=EPOCHS", "T_max=EPOCHS * len(loader)")),
        "scheduler.last_epoch == EPOCHS",
    ),
    "OneCycleLR with each epoch, in each of two runs": (
        "for rate in (0.1, 0.2):\n"
        + "".join(f"    {line}\n" for line in loop(epoch="scheduler.step()", setup=CYCLE).splitlines()),
        "scheduler.last_epoch == EPOCHS",
    ),
    "a line for batches with each epoch": (
        loop(epoch="scheduler.step()", setup="scheduler = lr_scheduler.LinearLR(optimizer, total_iters=21)\n"),
        "scheduler.last_epoch == EPOCHS",
    ),
}
LOST = {  # the parameters are what they were at the start
    "zero_grad after backward": moved("optimizer.zero_grad()", "optimizer.step()"),
    "zero_grad after backward, in a function": moved(
        "optimizer.zero_grad()", "optimizer.step()", functions("StepLR(optimizer, 2)", outer="scheduler.step()")
    ),
    "zero_grad after backward, with Adam": moved(
        "optimizer.zero_grad()", "optimizer.step()", loop().replace("optim.SGD", "optim.Adam")
    ),
}
CLIPPED = {  # without the clipping the parameters are the same
    "after step": loop(batch=CLIP),
    "after step, in a function": functions("StepLR(optimizer, 2)", CLIP, "scheduler.step()"),
    "after step, by value": loop(batch="nn.utils.clip_grad_value_(model.parameters(), 0.001)"),
    "before backward": moved(CLIP, "loss.backward()", loop(batch=CLIP)),
    "after zero_grad": moved(CLIP, "loss = F.cross_entropy(model(x), y)", loop(batch=CLIP)),
}
SCALED = (
    loop(setup="scaler = torch.amp.GradScaler('cpu')\n")
    .replace("loss.backward()", f"scaler.scale(loss).backward()\n        {CLIP}")
    .replace("optimizer.step()", "scaler.step(optimizer)\n        scaler.update()")
)
WEIGHTS = "weights = torch.rand(35)\n"
REFUSED = {  # torch refuses them
    "shuffle and a sampler": WEIGHTS
    + "loader = DataLoader(dataset, 5, shuffle=True, sampler=WeightedRandomSampler(weights, 35))\n",
    "shuffle and a sampler, by place": "loader = DataLoader(dataset, 5, True, RandomSampler(dataset))\n",
    "shuffle and a sampler in a dict": (
        "options = dict(batch_size=5, shuffle=True, num_workers=0)\n"
        "loader = DataLoader(dataset, sampler=SubsetRandomSampler(range(7)), **options)\n"
    ),
    "a batch_sampler and batch_size": (
        "batches = BatchSampler(RandomSampler(dataset), 5, drop_last=True)\n"
        "loader = DataLoader(dataset, batch_size=5, batch_sampler=batches)\n"
    ),
    "a batch_sampler and shuffle": (
        "batches = BatchSampler(RandomSampler(dataset), 5, drop_last=True)\n"
        "loader = DataLoader(dataset, batch_sampler=batches, shuffle=True)\n"
    ),
    "shuffle of a stream": """
class Stream(IterableDataset):
    def __iter__(self):
        for i in range(7):
            yield torch.full((3,), float(i))

loader = DataLoader(Stream(), batch_size=5, shuffle=True)
""",
    "persistent workers without workers": "loader = DataLoader(dataset, 5, persistent_workers=True)\n",
    "prefetching without workers": "loader = DataLoader(dataset, 5, num_workers=0, prefetch_factor=2)\n",
    "no sample in a batch": "size = 35 // 50\nloader = DataLoader(dataset, batch_size=size)\n",
    "drop_last without batches": "loader = DataLoader(dataset, batch_size=None, drop_last=True)\n",
    "OneCycleLR without a length": loop(batch="scheduler.step()", setup="scheduler = OneCycleLR(optimizer, 0.1)\n"),
    "OneCycleLR for epochs with each batch": loop(
        batch="scheduler.step()", setup="scheduler = OneCycleLR(optimizer, 0.1, total_steps=EPOCHS)\n"
    ),
    "OneCycleLR for another batch size": loop(
        batch="scheduler.step()",
        setup="scheduler = OneCycleLR(optimizer, 0.1, epochs=EPOCHS, steps_per_epoch=len(dataset) // 8)\n",
    ),
    "OneCycleLR once too often": functions(
        "OneCycleLR(optimizer, 0.1, total_steps=EPOCHS * len(loader))", "scheduler.step()", "scheduler.step()"
    ),
}
SPLIT = "train_set, val_set = random_split(dataset, [25, 10])\n"
EVALUATED = """
@torch.no_grad()
def accuracy(loader):
    model.eval()
    return sum((model(x).argmax(1) == y).sum().item() for x, y in loader) / len(loader.dataset)

print(accuracy(val_loader))
"""
TRAINED = loop().replace("in loader", "in train_loader") + EVALUATED
MIXED = {  # with what is true of the indices
    "the whole for training": (
        SPLIT + "train_loader = DataLoader(dataset, 5, shuffle=True)\nval_loader = DataLoader(val_set, 5)\n" + TRAINED,
        "train_loader.dataset is dataset",
    ),
    "the training set for validation": (
        SPLIT
        + "train_loader = DataLoader(train_set, 5, shuffle=True)\nval_loader = DataLoader(train_set, 5)\n"
        + TRAINED,
        "val_loader.dataset is train_set",
    ),
    "subsets": (
        "train_set = Subset(dataset, range(25))\nval_set = Subset(dataset, range(25, 35))\n"
        "train_loader = DataLoader(dataset, 5, shuffle=True)\nval_loader = DataLoader(val_set, 5)\n" + TRAINED,
        "train_loader.dataset is dataset",
    ),
    "samplers": (
        "indices = torch.randperm(35).tolist()\ntrain_sampler = SubsetRandomSampler(indices[:25])\n"
        "valid_sampler = SubsetRandomSampler(indices[25:])\n"
        "train_loader = DataLoader(dataset, 5, sampler=train_sampler)\n"
        "val_loader = DataLoader(dataset, 5, sampler=train_sampler)\n" + TRAINED,
        "val_loader.sampler is train_sampler",
    ),
}
RIGHT = {
    "a loop": loop(),
    "a schedule with each epoch": loop(epoch="scheduler.step()", setup=COSINE),
    "a schedule with each batch": loop(batch="scheduler.step()", setup=CYCLE),
    "a schedule in functions": functions("OneCycleLR(optimizer, 0.1, total_steps=21)", inner="scheduler.step()"),
    "a cosine that goes up again": loop(batch="scheduler.step()", setup=COSINE.replace("T_max=EPOCHS", "T_max=7")),
    "a schedule that ends early": loop(epoch="scheduler.step()", setup=COSINE.replace("T_max=EPOCHS", "T_max=2")),
    "a schedule every second batch": loop(
        batch="if (i := int(loss)) % 2:\n    scheduler.step()", setup=COSINE
    ),
    "a schedule with a break": loop(batch="scheduler.step()\nif epoch == 1:\n    break", setup=COSINE),
    "a schedule with warm restarts": loop(
        batch="scheduler.step()", setup="scheduler = lr_scheduler.CosineAnnealingWarmRestarts(optimizer, EPOCHS)\n"
    ),
    "a schedule of the loss": loop(
        epoch="scheduler.step(loss.item())", setup="scheduler = lr_scheduler.ReduceLROnPlateau(optimizer)\n"
    ),
    "a schedule for each of two runs": SETUP
    + """
def fit(rate):
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    scheduler = OneCycleLR(optimizer, rate, total_steps=EPOCHS * len(loader))
    for epoch in range(EPOCHS):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
            scheduler.step()
for rate in (0.1, 0.2):
    fit(rate)
for rate in (0.1, 0.2):
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    scheduler = OneCycleLR(optimizer, rate, total_steps=7)
    for x, y in loader:
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()
        scheduler.step()
""",
    "a schedule that is shown": SETUP + STEP + "optimizer.step()\nfor _ in range(5):\n    scheduler.step()\n",
    "two schedules": loop(
        epoch="scheduler.step()",
        setup="scheduler = lr_scheduler.SequentialLR(optimizer, [lr_scheduler.ConstantLR(optimizer), "
        "CosineAnnealingLR(optimizer, 2)], milestones=[1])\n",
    ),
    "clipping": moved(CLIP, "optimizer.step()", loop(batch=CLIP)),
    "clipping, and its norm": moved("norm = " + CLIP, "optimizer.step()", loop(batch="norm = " + CLIP)),
    "the norm after the step": loop(batch="norm = " + CLIP + "\nprint(norm)"),
    "gradients of several batches": SETUP
    + """
for i, (x, y) in enumerate(loader):
    loss = F.cross_entropy(model(x), y) / 2
    loss.backward()
    if (i + 1) % 2 == 0:
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
""",
    "zero_grad after the step": loop(batch="optimizer.zero_grad()"),
    "a penalty by itself": loop(batch="optimizer.zero_grad()\nmodel(x).pow(2).mean().backward()\noptimizer.step()"),
    "two optimizers": """
loader = DataLoader(dataset, batch_size=5)
generator, critic = nn.Linear(3, 7), nn.Linear(7, 1)
g_optimizer = torch.optim.Adam(generator.parameters())
c_optimizer = torch.optim.Adam(critic.parameters())
for x, _ in loader:
    fake = generator(torch.randn(5, 3))
    c_loss = critic(fake.detach()).mean() - critic(x).mean()
    c_optimizer.zero_grad()
    c_loss.backward()
    g_optimizer.zero_grad()
    c_optimizer.step()
    g_loss = -critic(fake).mean()
    g_loss.backward()
    g_optimizer.step()
    c_optimizer.zero_grad()
""",
    "scaled gradients": SCALED.replace(CLIP, "scaler.unscale_(optimizer)\n        " + CLIP),
    "gradients that aren't scaled": SCALED.replace("GradScaler('cpu')", "GradScaler('cpu', enabled=False)"),
    "a sampler": WEIGHTS + "loader = DataLoader(dataset, 5, False, WeightedRandomSampler(weights, 35))\n",
    "a batch_sampler": (
        "loader = DataLoader(dataset, batch_sampler=BatchSampler(RandomSampler(dataset), 5, drop_last=True))\n"
        "print(len(loader))\n"
    ),
    "samples one by one": "loader = DataLoader(dataset, batch_size=None, shuffle=True)\nprint(len(loader))\n",
    "shuffle or a sampler": (
        "sampler = None\nloader = DataLoader(dataset, 5, shuffle=sampler is None, sampler=sampler)\nlen(loader)\n"
    ),
    "two parts": SPLIT
    + "train_loader = DataLoader(train_set, 5, shuffle=True)\nval_loader = DataLoader(val_set, 5)\n"
    + TRAINED,
    "a part that isn't needed": (
        "train_set, _ = random_split(dataset, [25, 10])\ntrain_loader = DataLoader(train_set, 5)\n"
        + TRAINED.replace(EVALUATED, "")
    ),
    "the whole at last": (
        SPLIT + "train_loader = DataLoader(train_set, 5, shuffle=True)\nval_loader = DataLoader(val_set, 5)\n" + TRAINED
        + "final_loader = DataLoader(dataset, 5, shuffle=True)\n" + loop().replace("in loader", "in final_loader")
    ),
    "the training set once more": (
        SPLIT + "train_loader = DataLoader(train_set, 5, shuffle=True)\ntrain_eval_loader = DataLoader(train_set, 5)\n"
        "val_loader = DataLoader(val_set, 5)\n" + TRAINED
    ),
}  # fmt: skip


SCRIPTS = Scripts(HEAD)
said, run = SCRIPTS.said, SCRIPTS.run


def parameters(source: str) -> list[torch.Tensor]:
    """What a program makes of its model."""
    return list(run(source)["model"].parameters())


def only_warning(source: str, folder: Path) -> str:
    """The sentence of the one warning about a program without errors."""
    found = said(source, folder)
    assert not found.errors
    assert [w.code for w in found.warnings] == ["tensor-training"]
    return found.warnings[0].message


@pytest.mark.parametrize("source", EARLY.values(), ids=EARLY)
def test_a_schedule_that_begins_too_early_is_found(source, tmp_path):
    with pytest.warns(UserWarning, match=r"lr_scheduler\.step\(\)` before `optimizer\.step\(\)"):
        run(source)
    assert "before SGD does" in only_warning(source, tmp_path)


@pytest.mark.parametrize(("source", "holds"), UNIT.values(), ids=UNIT)
def test_a_schedule_in_the_wrong_unit_is_found(source, holds, tmp_path):
    assert eval(holds, run(source))
    assert "is made for" in only_warning(source, tmp_path)


@pytest.mark.parametrize("source", LOST.values(), ids=LOST)
def test_steps_without_gradients_are_found(source, tmp_path):
    trained, start = parameters(source), parameters(source.replace("optimizer.step()", "pass"))
    assert all(map(torch.equal, trained, start))
    assert "between backward() and step()" in only_warning(source, tmp_path)


@pytest.mark.parametrize("source", CLIPPED.values(), ids=CLIPPED)
def test_clipping_that_changes_nothing_is_found(source, tmp_path):
    line = next(v.strip() for v in source.splitlines() if "clip_grad" in v)
    assert all(map(torch.equal, parameters(source), parameters(source.replace(line, "pass"))))
    assert "clip_grad" in only_warning(source, tmp_path)


def test_clipping_of_scaled_gradients_is_found(tmp_path):
    unscaled = parameters(SCALED.replace(CLIP, "scaler.unscale_(optimizer)\n        " + CLIP))
    assert not any(map(torch.allclose, parameters(SCALED), unscaled))
    assert "still scaled" in only_warning(SCALED, tmp_path)


@pytest.mark.parametrize(
    "enabled", ["torch.cuda.is_available()", 'device == "cuda"', 'torch.device(device).type == "cuda"', "use_amp"]
)
def test_gradients_that_are_scaled_where_there_is_cuda_are_clipped_there(enabled, tmp_path):
    made = 'device = "cuda" if torch.cuda.is_available() else "cpu"\nuse_amp = device == "cuda"\n'
    source = made + SCALED.replace("GradScaler('cpu')", f"GradScaler(device, enabled={enabled})")
    assert "still scaled" in only_warning(source, tmp_path)
    right = source.replace(CLIP, "scaler.unscale_(optimizer)\n        " + CLIP)
    assert SCRIPTS.said(right, tmp_path).warnings == ()


@pytest.mark.parametrize("source", REFUSED.values(), ids=REFUSED)
def test_arguments_that_torch_refuses_are_found(source, tmp_path):
    with pytest.raises(ValueError, match=r"\w"):
        run(source)
    found = said(source, tmp_path)
    assert [e.code for e in found.errors] == ["tensor-option"]
    assert not found.warnings


@pytest.mark.parametrize(("source", "holds"), MIXED.values(), ids=MIXED)
def test_a_loader_of_other_samples_is_found(source, holds, tmp_path):
    assert eval(holds, run(source))
    assert "is never used" in only_warning(source, tmp_path)


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT)
def test_what_is_meant_is_left_alone(source, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(source)
    found = said(source, tmp_path)
    assert not found.errors
    assert not found.warnings


SCALING = (
    loop(setup="scaler = torch.amp.GradScaler('cpu')\n")
    .replace(
        "loss = F.cross_entropy(model(x), y)",
        HALF := "with torch.autocast('cpu', torch.float16):\n            loss = F.cross_entropy(model(x), y)",
    )
    .replace("loss.backward()", "scaler.scale(loss).backward()")
    .replace("optimizer.step()", "scaler.step(optimizer)\n        scaler.update()")
)
STEP_IT, SCALE_IT = "scaler.step(optimizer)\n", "scaler.scale(loss).backward()"
STEPS = "        scaler.step(optimizer)\n        scaler.update()"
EVALUATES = "    with torch.autocast('cpu', torch.float16):\n        print(model(inputs).sum().item())\n"
UNSCALE = "scaler.unscale_(optimizer)\n"
MISUSED = {  # torch refuses them, and we say why
    "a step without a scaled loss": (SCALING.replace(SCALE_IT, "loss.backward()"), "no loss was scaled"),
    "unscaled without a scaled loss": (
        SCALING.replace(SCALE_IT, "loss.backward()\n        " + UNSCALE),
        "unscale_ divides the gradients by the scale, but no loss was scaled",
    ),
    "unscaled twice": (
        SCALING.replace(STEP_IT, f"{UNSCALE}        {UNSCALE}        {STEP_IT}"), "are unscaled already"
    ),
    "unscaled after the step": (SCALING.replace(STEP_IT, f"{STEP_IT}        {UNSCALE}"), "has been made already"),
    "no update": (SCALING.replace("        scaler.update()\n", ""), "a step was made since the last update"),
}  # fmt: skip
SCALED_RIGHT = {
    "in order": SCALING,
    "unscaled to clip": SCALING.replace(STEP_IT, f"{UNSCALE}        {CLIP}\n        {STEP_IT}"),
    "every second batch": SCALING.replace("for x, y in loader:", "for i, (x, y) in enumerate(loader):").replace(
        STEPS, "        if i % 2:\n" + indent(STEPS, "    ")
    ),
    "perhaps": SCALING.replace("scaler = ", "import os\non = 'ON' in os.environ\nscaler = ")
    .replace(SCALE_IT, f"if on:\n            {SCALE_IT}\n        else:\n            loss.backward()")
    .replace(STEPS, f"        if on:\n{indent(STEPS, '    ')}\n        else:\n            optimizer.step()"),
    "two optimizers": SCALING.replace(
        "scaler = ", "other = nn.Linear(7, 5)\nsecond = torch.optim.SGD(other.parameters(), lr=0.1)\nscaler = "
    ).replace("cross_entropy(model(x), y)", "cross_entropy(model(x) + other(x), y)")
    .replace(STEP_IT, f"{STEP_IT}        scaler.step(second)\n"),
    "two optimizers, once": "\n".join(
        line
        for line in SCALING.replace("scaler = ", "second = torch.optim.SGD(model[2].parameters())\nscaler = ")
        .replace(STEP_IT, f"{STEP_IT}        scaler.step(second)\n").replace("in loader:", "in [(inputs, targets)]:")
        .replace("EPOCHS)", "1)").splitlines()
        if "update" not in line
    ),
    "switched off": SCALING.replace(SCALE_IT, "loss.backward()").replace("('cpu')", "('cpu', enabled=False)"),
    "bfloat16 needs none": loop().replace(
        "loss = F.cross_entropy(model(x), y)", HALF.replace("float16", "bfloat16")
    ),
    "float16 in an evaluation": loop(before=EVALUATES.replace("with ", "with torch.no_grad(), ")),
    "float16 before the training, with a graph": loop(before=EVALUATES),
}  # fmt: skip


@pytest.mark.parametrize(("source", "said"), MISUSED.values(), ids=MISUSED)
def test_a_scaler_in_the_wrong_order_is_found(source, said, tmp_path):
    with pytest.raises((AssertionError, RuntimeError), match=r"scale|step"):
        run(source)
    assert said in only_warning(source, tmp_path)


@pytest.mark.parametrize("source", SCALED_RIGHT.values(), ids=SCALED_RIGHT)
def test_a_scaler_in_order_is_silent(source, tmp_path):
    run(source)
    found = said(source, tmp_path)
    assert [w.message for w in (*found.errors, *found.warnings) if "graph" not in w.message] == []


def test_float16_without_a_scaler_is_found(tmp_path):
    """A gradient that is smaller than float16's smallest number is lost, and kept where the loss is scaled."""
    source = loop().replace("loss = F.cross_entropy(model(x), y)", HALF)
    assert "operations in float16 without a GradScaler" in only_warning(source, tmp_path)
    small = torch.tensor(1e-9)
    assert small.half() == 0 != (small * 2**16).half()
