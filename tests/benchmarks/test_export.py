"""The table of `benchmarks.export`."""

from __future__ import annotations

from benchmarks.export import BEGIN, END, MODELS, PAGE, read_table, table


def test_a_table_is_read_as_it_was_written():
    rows = {
        "gpt.GPT": {"program": {"difference": 0.0, "symbols": ["B >= 1", "1 <= T <= 32"]}, "onnx": {"why": "it fails"}},
        "unet": {
            "program": {"difference": 4e-6, "symbols": ["B >= 1"]},
            "aot": {"difference": 2e-7, "symbols": ["B >= 1", "H >= 65"]},
        },
        "resnet50": {
            "program": {"difference": 0.0, "symbols": ["B >= 1"]},
            "aot": {"difference": 2e-05, "rounding": 3e-05, "symbols": ["B >= 1", "H >= 65"]},
        },
        "swin_t": {kind: {"why": "H is open"} for kind in ("program", "onnx", "aot")},
    }
    assert read_table(table(rows)) == rows
    assert "| 2e-05, 3e-05 rounding (B >= 1, H >= 65) |" in table(rows)
    assert "| `unet` | B >= 1 | 4e-06 |  | 2e-07 (B >= 1, H >= 65) |" in table(rows)
    assert table(rows).endswith(f"`{[name for name in MODELS if name not in rows][-1]}`.")


def test_the_page_s_table_is_the_script_s():
    old = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0].strip()
    assert table(read_table(old)) == old
    assert "/tmp" not in old
