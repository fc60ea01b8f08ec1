"""Every name of `simpletorch.distributed`, once: what type checkers see, and the table that ``__init__.py`` resolves by."""

from simpletorch.distributed._group import barrier as barrier
from simpletorch.distributed._group import init as init
from simpletorch.distributed._group import is_main as is_main
from simpletorch.distributed._group import local_rank as local_rank
from simpletorch.distributed._group import rank as rank
from simpletorch.distributed._group import world_size as world_size
