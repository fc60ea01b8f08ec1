"""The cost of a training, before it runs: memory of a rank and bytes sent, for a model, a mesh and a precision."""

from simpletorch.distributed._planning._plan import Memory as Memory
from simpletorch.distributed._planning._plan import Plan as Plan
from simpletorch.distributed._planning._plan import plan as plan
from simpletorch.distributed._planning._traffic import Collective as Collective
