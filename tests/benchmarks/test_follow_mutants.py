"""The measure of `benchmarks/follow/mutants.py`: what it says of followers whose answers are known beforehand."""

from collections import Counter
from pathlib import Path

import pytest
from corpus import Program
from corpus import programs as corpus_programs
from follower import Answer, Found
from mutants import complaints, measure, misses, table
from mutate import mutants
from verdicts import HARMLESS, TORCH, Verdicts

TEXT = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.fc1 = nn.Linear(13, width)
        self.fc2 = nn.Linear(width, classes)

    def forward(self, x):
        x = torch.relu(
            self.fc1(x.flatten(1))
        )
        return self.fc2(x)


def main():
    x = torch.randn(5, 13, 1)
    y = torch.randint(0, 3, (5,))
    loss = nn.functional.cross_entropy(Net(7, 3)(x), y)
    loss.backward()


if __name__ == "__main__":
    main()
"""
NET = Program("net", "net.py", {"net.py": TEXT})
COUNT = 20


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> Verdicts:
    """Torch's verdicts on the mutants of NET."""
    verdicts = Verdicts(tmp_path_factory.mktemp("verdicts") / "store.json")
    verdicts.learn([NET, *(m.program for m in mutants(NET, COUNT))])
    return verdicts


def kinds(verdicts: Verdicts) -> Counter[str]:
    return Counter(verdicts[m.program].kind for m in mutants(NET, COUNT))


def numbers(rows) -> dict[str, int]:
    return dict(Counter(j.outcome for row in rows for j in row.judged))


def test_the_mutants_are_of_both_kinds(verdicts):
    assert verdicts[NET].kind == HARMLESS
    assert kinds(verdicts)[TORCH] > 1
    assert kinds(verdicts)[HARMLESS] > 1


def test_who_knows_the_answers_finds_all(verdicts):
    def oracle(main: Path) -> Answer:
        verdict = verdicts[Program("net", main.name, {main.name: main.read_text()})]
        return Answer((Found(verdict.trace[0], verdict.error),)) if verdict.kind == TORCH else Answer()

    rows = measure([NET], verdicts, oracle, COUNT)
    assert numbers(rows)["at the line"] == kinds(verdicts)[TORCH]
    assert numbers(rows)["quiet"] == kinds(verdicts)[HARMLESS]
    assert not complaints(rows)
    assert not misses(rows, COUNT)
    assert "100 %" in table(rows)


def test_who_says_nothing_misses_all(verdicts):
    rows = measure([NET], verdicts, lambda main: Answer(), COUNT)
    assert numbers(rows)["missed"] == kinds(verdicts)[TORCH] == len(misses(rows, COUNT))
    assert not complaints(rows)


def test_who_complains_of_everything_is_complained_of(verdicts):
    rows = measure([NET], verdicts, lambda main: Answer((Found((main.name, 1), "wrong"),)), COUNT)
    assert numbers(rows)["elsewhere"] == kinds(verdicts)[TORCH]
    assert numbers(rows)["false alarm"] == kinds(verdicts)[HARMLESS]
    assert len(complaints(rows)) == 1 + kinds(verdicts)[HARMLESS]


def test_a_line_on_the_way_counts_as_found(verdicts):
    main_line = TEXT.splitlines().index("    main()") + 1
    rows = measure([NET], verdicts, lambda main: Answer((Found((main.name, main_line), "wrong"),)), COUNT)
    assert numbers(rows)["on the way"] == kinds(verdicts)[TORCH]


def test_any_line_of_a_statement_is_its_place():
    inner = TEXT.splitlines().index("            self.fc1(x.flatten(1))") + 1
    assert NET.statement("net.py", inner) == NET.statement("net.py", inner - 1) == ("net.py", inner - 1)


def test_a_crash_is_a_complaint(verdicts):
    rows = measure([NET], verdicts, lambda main: Answer(crash="KeyError: 'x'"), 1)
    assert complaints(rows)[0] == "net: KeyError: 'x'"


def test_verdicts_are_read_back(verdicts):
    assert Verdicts(verdicts.store).known == verdicts.known


@pytest.mark.parametrize("program", corpus_programs(["vit_plain", "multitask"]), ids=lambda p: p.name)
def test_a_mutant_differs_in_the_lines_it_names(program):
    for mutant in mutants(program, 40):
        for file, text in program.files.items():
            pairs = list(zip(text.split("\n"), mutant.program.files[file].split("\n"), strict=True))
            changed = tuple(line for line, (was, now) in enumerate(pairs, 1) if was != now)
            assert changed == (mutant.lines if file == mutant.file else ())


def test_few_mutants_are_the_beginning_of_many():
    assert mutants(NET, 7) == mutants(NET, COUNT)[:7]
