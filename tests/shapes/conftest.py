"""How many examples hypothesis draws, the same ones in each run."""

from hypothesis import settings

settings.register_profile("simpletorch", derandomize=True, deadline=None, max_examples=200)
settings.load_profile("simpletorch")
