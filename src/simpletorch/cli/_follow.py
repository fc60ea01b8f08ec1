"""``simpletorch follow``: a program run on shapes, and what is found or known of it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from simpletorch._settings import SettingError, settings
from simpletorch.cli._checking.files import listed
from simpletorch.cli._following.coverage import Coverage
from simpletorch.cli._following.many import answers
from simpletorch.cli._following.programs import Asked, Program, slim, why_not
from simpletorch.cli._following.progress import Progress
from simpletorch.cli._following.report import Listing, Result, outcome, print_findings, remarks
from simpletorch.cli._narrowing.narrowing import Narrowing, NarrowingError
from simpletorch.cli._output import Output, OutputError, could_not
from simpletorch.cli._shapes.beside import beside, of_line
from simpletorch.follow.cache.told import Told
from simpletorch.follow.sources import texts
from simpletorch.follow.sources.notebooks import is_notebook
from simpletorch.follow.sources.piped import is_piped, named, text_of

__all__ = ["file_of_module", "files_and_arguments", "follow"]

OPTIONS: Final = (
    *(
        "--shapes",
        "--html",
        "--json",
        "--output",
        "--why",
        "--coverage",
        "--sizes",
        "--no-data",
        "--no-cache",
        "--quiet",
    ),
    *("--jobs", "--baseline", "--write-baseline", "--diff"),
)


def follow(
    file: str,
    arguments: Sequence[str] = (),
    *,
    more: Sequence[str] = (),
    output: Output | None = None,
    shapes: bool = False,
    as_html: bool = False,
    why: int | None = None,
    coverage: bool = False,
    sizes: bool = False,
    data: bool = True,
    cache: bool = True,
    quiet: bool = False,
    jobs: int | None = None,
    narrowing: Mapping[str, Any] | None = None,
) -> int:
    """Follow ``file``, or what standard input or a pipe holds, and print what was found.

    Args:
        file: the file; "-" is standard input. In a folder the programs are followed.
        arguments: those of its command line.
        more: other files and folders; each file is a program of its own with the same arguments.
        output: the formats; text by default.
        shapes, as_html, why: what is shown of one program beside, or instead of, its findings.
        coverage: show how much is known, and what costs the rest, instead of the findings.
        sizes: also warn of sizes that must be equal and that a caller gives.
        data: read the sizes of data files.
        cache: use answers that are kept.
        quiet: print findings only.
        jobs: the number of processes.
        narrowing: the arguments of `Narrowing`.

    Returns 0 if nothing was found, 1 if there are errors, 2 if there is no such program.
    """
    output = output or Output()
    opened: dict[str, str] = {}
    if is_piped(file):
        try:
            opened[named(file)] = text_of(file)
        except (OSError, UnicodeDecodeError) as error:
            return could_not("follow", f"{named(file)} can't be read: {error}", output)
    file = named(file)
    is_alone = shapes or as_html or why is not None
    if is_alone and (more or Path(file).is_dir()):
        return could_not(
            "follow", "--shapes, --html and --why take one file; put the program's arguments after --", output
        )
    if is_notebook(file) and (as_html or why is not None):
        return could_not("follow", "--html and --why don't take a notebook", output)
    with texts.instead(opened):
        try:
            said = settings()
            narrows = Narrowing(**narrowing or {})
            if (as_html or why is not None) and narrows:
                raise NarrowingError("--html and --why show the whole program: they take no --baseline or --diff")
            severities = {**said.severities, **({"tensor-size": "warning"} if sizes else {})}
            options = {"severities": severities, "data": data and said.data}
            asked = Asked(arguments, cache and said.cache and not as_html, options=options, opened=opened)
            programs, left_out = _programs([file, *more])
            if note := _misplaced(file, arguments):
                print(f"simpletorch follow: {note}", file=sys.stderr)
            if as_html:
                return _print_page(file, asked)
            streams = not is_alone and not coverage and output.shown == "text"
            result = _followed(programs, left_out, asked, narrows, quiet=quiet, jobs=jobs, streams=streams)
            is_said = output.tell(outcome(result))
        except (SettingError, NarrowingError, _NotFollowed) as error:
            reason = why_not(file) if isinstance(error, SettingError) else ""
            return could_not("follow", reason or str(error), output)
        except OutputError as error:
            return could_not("follow", str(error))
        if why is not None:
            print("\n".join(_reasons(file, why, result.told)))
        elif coverage and not is_said:
            print("\n".join(Coverage.of(result.told).lines()))
        elif not is_said:
            if shapes:
                print("\n".join(beside(file, result.told)))
            if not streams:
                print_findings(result.told)
            if not quiet:
                print("\n".join(remarks(result)))
    return result.exit_code


class _NotFollowed(Exception):
    """A program that was named can't be followed; the text says why."""


def files_and_arguments(file: str, words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """More programs that the command line names, and the programs' own arguments, which begin with the first option.

    A script that is another one's argument stands behind ``--``: ``train.py -- config.py``. Behind a folder, which
    takes no arguments, other folders are followed, too.
    """
    has_folders = Path(file).is_dir()
    count = 0
    while count < len(words) and _is_program(words[count], has_folders=has_folders):
        count += 1
    return words[:count], words[count:]


def _is_program(word: str, *, has_folders: bool) -> bool:
    path = Path(word)
    return (word.endswith((".py", ".ipynb")) and path.is_file()) or (has_folders and path.is_dir())


def file_of_module(name: str) -> str:
    """The file that ``python -m name`` runs here; "" if there is none."""
    inner = Path(*name.split("."))
    files = (inner / "__main__.py", inner.with_suffix(".py"))
    return next((str(f) for f in (*files, *(Path("src") / f for f in files)) if f.is_file()), "")


def _programs(paths: Sequence[str]) -> tuple[list[Program], list[tuple[str, str]]]:
    """The programs that paths stand for, and the files that are left out, with the reason.

    Raises:
        _NotFollowed: one of several paths is no program.
    """
    if len(paths) > 1:
        for path in paths:
            if not Path(path).is_dir() and (reason := why_not(path)):
                raise _NotFollowed(reason)
    elif not Path(paths[0]).is_dir():
        return [Program(paths[0])], []
    files = listed(paths)
    # a file that is named keeps its spelling, which reports have
    found = {file: Program(file, file in files.named) for file in files.followed}
    spelled = [Program(path) for path in paths if not Path(path).is_dir()]
    return [*spelled, *(p for p in found.values() if not p.is_named)], files.left_out


def _followed(
    programs: Sequence[Program],
    left_out: list[tuple[str, str]],
    asked: Asked,
    narrowing: Narrowing,
    *,
    quiet: bool,
    jobs: int | None,
    streams: bool,
) -> Result:
    """Follow programs, and with ``streams`` print what is found in each when it is there.

    Raises:
        _NotFollowed: a program that was named can't be followed.
        NarrowingError: the baseline can't be written.
    """
    start = time.perf_counter()
    listing, found, is_kept = Listing(narrowing), list[Told](), True
    is_alone = len(programs) == 1 and not streams
    first = f"following {programs[0].file}" if programs else ""
    with (
        Progress(len(programs), name=first, quiet=quiet) as progress,
        closing(answers(programs, asked, jobs)) as coming,
    ):
        for done, (program, answer) in enumerate(zip(programs, coming, strict=True), 1):
            progress.at(done, program.file)
            if answer.problem and program.is_named:
                raise _NotFollowed(answer.problem)
            if answer.problem:
                left_out.append((program.file, answer.problem))
            if answer.told is None:
                continue
            is_kept &= answer.is_kept
            told = listing.shown(answer.told if is_alone else slim(answer.told))
            found.append(told)
            if streams:
                printing = time.perf_counter()
                progress.clear()
                print_findings(told)
                start += time.perf_counter() - printing
    narrowing.finish({*listing.files, *(program.file for program in programs)}, of_mypy=False)
    together = Told.together(found) if found else Told()
    return Result(together, len(found), left_out, narrowing, time.perf_counter() - start, is_kept)


def _print_page(file: str, asked: Asked) -> int:
    """Print the program as a page.

    Raises:
        _NotFollowed: it can't be followed.
    """
    if reason := why_not(file):
        raise _NotFollowed(reason)
    from simpletorch.cli._shapes.page import page  # it needs what the interpreter has seen
    from simpletorch.follow.followed import follow as follow_program

    found = follow_program(file, asked.arguments, watched=True, opened=asked.opened, **asked.options)
    print(page(file, found))
    return 1 if found.errors else 0


def _misplaced(file: str, arguments: Sequence[str]) -> str:
    """A sentence where an option of ours stands behind the file, which doesn't take it; "" where none does."""
    ours = [a.partition("=")[0] for a in arguments if a.partition("=")[0] in OPTIONS]
    text = texts.read(Path(file)) if ours and Path(file).is_file() else ""
    lost = next((option for option in ours if option not in text), None)
    return (
        f"{lost} comes after {file} and is passed to that program; put simpletorch's options before the file"
        if lost
        else ""
    )


def _reasons(file: str, line: int, found: Told) -> Iterator[str]:
    """Why something on a line isn't known."""
    known = of_line(found, file, line)
    if known:
        yield f"{file}:{line}: {known}"
    reasons = found.reasons.get((file, line), ())
    for reason in reasons:
        yield f"{file}:{line}: not known: {reason}"
    if not reasons and not known:
        yield f"{file}:{line}: nothing was computed on this line, or the program does not get there"
