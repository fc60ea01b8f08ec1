"""Starting scripts under torchrun."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]
# these sources, whatever is installed
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}


def torchrun(script, *arguments, restarts=0, limit=400, environment=None):
    """What two processes of a script print, what they say of errors, and the launcher's status."""
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    command += ["--max-restarts", str(restarts), "--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"]
    process = subprocess.Popen(
        [*command, str(script), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**ENVIRONMENT, **(environment or {})},
        cwd=ROOT,
        start_new_session=True,
    )
    try:
        printed, errors = process.communicate(timeout=limit)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    return printed, errors, process.returncode
