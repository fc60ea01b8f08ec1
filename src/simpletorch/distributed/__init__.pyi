"""Every name of `simpletorch.distributed`, once: what type checkers see, and what ``__init__.py`` resolves by."""

from torch.distributed import destroy_process_group as destroy_process_group
from torch.distributed import init_process_group as init_process_group
from torch.nn.parallel import DistributedDataParallel as DistributedDataParallel

from simpletorch.data import DistributedSampler as DistributedSampler
from simpletorch.distributed import actors as actors
from simpletorch.distributed import ray as ray
from simpletorch.distributed._group import barrier as barrier
from simpletorch.distributed._group import init as init
from simpletorch.distributed._group import is_main as is_main
from simpletorch.distributed._group import local_rank as local_rank
from simpletorch.distributed._group import rank as rank
from simpletorch.distributed._group import world_size as world_size
from simpletorch.distributed._launch import launch as launch
from simpletorch.distributed._materialize import materialize as materialize
from simpletorch.distributed._mesh import Mesh as Mesh
from simpletorch.distributed._pipeline import Pipeline as Pipeline
from simpletorch.distributed._planning import Collective as Collective
from simpletorch.distributed._planning import Memory as Memory
from simpletorch.distributed._planning import Plan as Plan
from simpletorch.distributed._planning import plan as plan
from simpletorch.distributed._plans import parallelize as parallelize
from simpletorch.distributed._replicate import replicate as replicate
from simpletorch.distributed._sequence import context_parallel as context_parallel
from simpletorch.distributed._shard import held as held
from simpletorch.distributed._shard import shard as shard
from simpletorch.distributed.collectives import ReduceOp as ReduceOp
from simpletorch.distributed.collectives import all_gather as all_gather
from simpletorch.distributed.collectives import all_reduce as all_reduce
from simpletorch.distributed.collectives import all_to_all as all_to_all
from simpletorch.distributed.collectives import broadcast as broadcast
from simpletorch.distributed.collectives import gather as gather
from simpletorch.distributed.collectives import reduce_scatter as reduce_scatter
from simpletorch.distributed.collectives import scatter as scatter
