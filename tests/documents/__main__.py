"""``python -m tests.documents`` writes ``docs/documents.md``."""

from pathlib import Path

from tests.documents.table import page

(Path(__file__).parents[2] / "docs" / "documents.md").write_text(page(), encoding="utf-8")
