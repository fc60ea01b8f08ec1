"""Every name of `simpletorch.interop`, once: what type checkers see, and the table that ``__init__.py`` resolves by."""

from simpletorch.interop import hub as hub
from simpletorch.interop._arrow import from_arrow as from_arrow
from simpletorch.interop._arrow import from_arrow_table as from_arrow_table
from simpletorch.interop._arrow import to_arrow as to_arrow
from simpletorch.interop._dlpack import from_dlpack as from_dlpack
from simpletorch.interop._dlpack import to_jax as to_jax
from simpletorch.interop._numpy import from_numpy as from_numpy
from simpletorch.interop._numpy import to_numpy as to_numpy
from simpletorch.interop._transformers import from_transformers as from_transformers
from simpletorch.interop._typed import typed as typed
