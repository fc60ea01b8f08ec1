"""The measure of `benchmarks/follow/differential.py`: what is recorded of a run, and what is said of claims."""

import corpus
import random_programs
from corpus import Program
from differential import compare, comparisons
from follower import Answer, Found

TEXT = """\
import random
import torch


class Box:
    def __init__(self, t):
        self.t = t


x = torch.zeros(2, 3)
for n in range(2):
    x = x.unsqueeze(0)
box = Box(x); m = 5
if random.random() > 0.5:
    x = torch.ones(7)
try:
    x = x.view(11)
except RuntimeError:
    y, (z, *rest) = x.long(), [m, x]
"""
NAME = "random_text"
NAMES = {
    "        self.t = t": ("self.t",),
    "x = torch.zeros(2, 3)": ("x",),
    "for n in range(2):": ("n",),
    "    x = x.unsqueeze(0)": ("x",),
    "box = Box(x); m = 5": ("m",),
    "    x = torch.ones(7)": ("x",),
    "    y, (z, *rest) = x.long(), [m, x]": ("y", "z"),
}
PROGRAM = Program(NAME, "a.py", {"a.py": TEXT})


def place(line: str) -> tuple[str, int]:
    return "a.py", TEXT.splitlines().index(line) + 1


def judged(answer: Answer):
    (comparison,) = comparisons([PROGRAM], lambda main: answer, 1)
    return comparison


def claim(line: str, name: str, *values) -> Answer:
    return Answer(claims={place(line): {name: frozenset(values)}})


def test_a_line_in_a_loop_gives_several_values():
    line = "    x = x.unsqueeze(0)"
    assert not judged(claim(line, "x", ("float32", (1, 2, 3)), ("float32", (1, 1, 2, 3)))).wrong
    assert judged(claim(line, "x", ("float32", (2, 3)))).wrong


def test_both_ways_of_a_random_condition_are_run():
    line = "    y, (z, *rest) = x.long(), [m, x]"
    both = claim(line, "y", ("int64", (1, 1, 2, 3)), ("int64", (7,)))
    assert not judged(both).wrong
    assert judged(both).claims == 2


def test_an_attribute_and_two_statements_of_a_line():
    assert not judged(claim("        self.t = t", "self.t", ("float32", (1, 1, 2, 3)))).wrong
    assert judged(claim("        self.t = t", "self.t", ("float64", (1, 1, 2, 3)))).wrong
    assert not judged(claim("box = Box(x); m = 5", "m", 5)).wrong
    assert judged(claim("box = Box(x); m = 5", "m", 3)).wrong


def test_an_int_that_a_tuple_gives():
    assert judged(claim("    y, (z, *rest) = x.long(), [m, x]", "z", 7)).wrong


def test_what_raised_gave_nothing():
    assert judged(claim("    x = x.view(11)", "x", ("float32", (11,)))).unreached == 1


def test_a_mistake_told_of_a_right_program_is_wrong():
    assert judged(Answer((Found(("a.py", 1), "wrong"),))).wrong == ["a.py:1: no mistake, but: wrong"]


def test_what_is_not_everything_proves_nothing_wrong():
    recorded = {place("x = torch.zeros(2, 3)"): {"x": {("float32", (2, 3))}}}
    answer = claim("x = torch.zeros(2, 3)", "x", ("float32", (3, 2)))
    assert compare(PROGRAM, recorded, True, answer).wrong
    assert not compare(PROGRAM, recorded, False, answer).wrong


def test_a_claim_of_a_way_that_was_not_taken_is_open():
    at = place("x = torch.zeros(2, 3)")
    said = {at: {"x": frozenset({("float32", (3, 2))})}}
    assert judged(Answer(claims=said)).wrong
    comparison = judged(Answer(claims=said, conditional=said))
    assert not comparison.wrong
    assert len(comparison.open) == 1


def test_what_a_line_gives_must_be_among_what_it_may_give():
    everything = {place(line): {name: [lambda value: True] for name in names} for line, names in NAMES.items()}
    assert not judged(Answer(ways=everything)).wrong
    without = {at: names for at, names in everything.items() if at != place("box = Box(x); m = 5")}
    assert judged(Answer(ways=without)).wrong == ["a.py:13: m is said to be never to get a value, but is 5"]
    other = everything | {place("x = torch.zeros(2, 3)"): {"x": [lambda value: value == 2]}}
    assert judged(Answer(ways=other)).wrong == ["a.py:10: x is said to be something else, but is ('float32', (2, 3))"]


HANDLER = """\
def main():
    q = 2
    xs = [q]
    try:
        raise ValueError
    except ValueError as error:
        if xs:
            if xs:
                pass
        elif q == 2:
            pass
        else:
            q = 7

main()
"""


def test_the_end_of_a_handler_is_no_statement_of_its_last_line():
    (comparison,) = comparisons([Program("handler", "a.py", {"a.py": HANDLER})], lambda main: Answer(), 1)
    assert comparison.names == 1


def test_every_port_is_a_program():
    models = corpus.CORPORA.parent / "examples/models"
    assert {program.name for program in corpus.ports()} == {path.stem for path in models.glob("*.py")}


def test_random_programs_run_and_are_the_same_again():
    programs = [random_programs.program(seed) for seed in range(6)]
    assert programs == [random_programs.program(seed) for seed in range(6)]
    compared = comparisons(programs, lambda main: Answer(), 2)
    assert all(c.names > 10 for c in compared)
