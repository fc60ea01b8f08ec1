"""Every name of `simpletorch.language`, once: what checkers see, and the table that ``__init__.py`` resolves by."""

from simpletorch.language import models as models
