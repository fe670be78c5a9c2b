from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QByteArray

from inspector_app.support.settings import Settings


def test_a_layout_is_remembered(tmp_path: Path) -> None:
    settings = Settings(tmp_path)
    settings.save_layout("window", QByteArray(b"\x00\x01\xff"))
    settings.theme = "dark"
    del settings
    later = Settings(tmp_path)
    assert later.layout("window") == QByteArray(b"\x00\x01\xff")
    assert later.layout("panes") is None
    assert later.theme == "dark"
