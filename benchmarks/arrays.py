"""What sharing arrays costs beside torch's own functions: `python benchmarks/arrays.py`.

Each pair takes turns of a tenth of a millisecond or so, and the ratio is the median of the turns', so that what else
the machine does is in both. Where torch has no function of its own, the shortest way that people write is the other
side. It needs jax and pyarrow (the extras `jax` and `tables`).
"""

import time
from collections.abc import Callable
from statistics import median

import jax.numpy as jnp
import numpy as np
import pyarrow as pa
import torch

from simpletorch import interop

ROUNDS, CALLS = 401, 200


def timed(call: Callable[[], object]) -> float:
    """Nanoseconds of a call, over many."""
    start = time.perf_counter_ns()
    for _ in range(CALLS):
        call()
    return (time.perf_counter_ns() - start) / CALLS


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    array, x = np.zeros((3, 5), np.float32), torch.zeros(3, 5)
    of_jax, column, flat = jnp.zeros((3, 5)), pa.array(np.zeros(5)), x.view(-1)
    of_table, lists = pa.table({"a": column})["a"], pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(15)), 3)
    pairs: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "from_numpy": (lambda: torch.from_numpy(array), lambda: interop.from_numpy(array)),
        "from_dlpack of NumPy": (lambda: torch.from_dlpack(array), lambda: interop.from_dlpack(array)),
        "from_dlpack of JAX": (lambda: torch.from_dlpack(of_jax), lambda: interop.from_dlpack(of_jax)),
        "from_arrow": (lambda: torch.from_dlpack(column), lambda: interop.from_arrow(column)),
        "from_arrow of a table's column": (
            lambda: torch.from_dlpack(of_table.chunk(0)),
            lambda: interop.from_arrow(of_table),
        ),
        "from_arrow of lists": (
            lambda: torch.from_dlpack(lists.flatten()).view(-1, 3),
            lambda: interop.from_arrow(lists),
        ),
        "to_numpy": (lambda: x.numpy(), lambda: interop.to_numpy(x)),
        "to_jax": (lambda: jnp.from_dlpack(x), lambda: interop.to_jax(x)),
        "to_arrow": (lambda: pa.array(flat.numpy()), lambda: interop.to_arrow(flat)),
    }
    print("| | torch, or the other library | ours | ratio |\n| --- | --- | --- | --- |")
    for name, (theirs, ours) in pairs.items():
        times = [(timed(theirs), timed(ours)) for _ in range(ROUNDS)]
        first, second = median(t for t, _ in times), median(t for _, t in times)
        print(f"| {name} | {first:,.0f} ns | {second:,.0f} ns | {median(b / a for a, b in times):.2f} |", flush=True)


if __name__ == "__main__":
    main()
