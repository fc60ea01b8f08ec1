"""The steps of ``simpletorch check``, one a file."""
