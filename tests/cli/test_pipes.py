"""A command whose reader goes away ends quietly."""

import subprocess
import sys


def test_a_reader_that_has_seen_enough_is_no_error(folder):
    lines = "".join(f"reveal_type({n})\n" for n in range(20_000))  # more than a pipe holds
    (folder / "long.py").write_text(lines)
    command = [sys.executable, "-m", "simpletorch.cli", "follow", "long.py"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout.readline() == 'long.py:1: note: Revealed type is "0"\n'
        running.stdout.close()
        assert running.stderr.read() == ""
