"""The shapes of a program beside its source: as text, as a page, and as a diagram."""
