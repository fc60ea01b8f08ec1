"""Streams, events, memory and graphs of a GPU, in programs that run unchanged on a machine without one.

::

    copies = cuda.Stream()
    moved = copies.run(big.to, cuda.current_stream().device)   # beside what comes next
    y = model(x)
    z = y + moved.wait()                                       # here it has to be there

    pool = cuda.TensorPool(debug=True)                         # buffers by shape, dtype and device
    step = cuda.graph(step)                                    # launched as one
    print(cuda.memory())                                       # what holds how much, by name

Without an accelerator everything happens at once, in the order of the program.
"""

from simpletorch.cuda._graphs import Graphed as Graphed
from simpletorch.cuda._graphs import graph as graph
from simpletorch.cuda._memory import Holding as Holding
from simpletorch.cuda._memory import Memory as Memory
from simpletorch.cuda._memory import empty_cache as empty_cache
from simpletorch.cuda._memory import memory as memory
from simpletorch.cuda._memory import memory_allocated as memory_allocated
from simpletorch.cuda._memory import memory_stats as memory_stats
from simpletorch.cuda._pool import TensorPool as TensorPool
from simpletorch.cuda._streams import Event as Event
from simpletorch.cuda._streams import Pending as Pending
from simpletorch.cuda._streams import Stream as Stream
from simpletorch.cuda._streams import current_stream as current_stream
from simpletorch.cuda._streams import synchronize as synchronize
from simpletorch.cuda._transfer import channels_last as channels_last
from simpletorch.cuda._transfer import pinned as pinned
from simpletorch.cuda._transfer import prefetch as prefetch
