from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray, QSettings

from inspector_app.support.settings import MAX_RECENT, Settings


def again(tmp_path: Path) -> Settings:
    """The settings as a new start reads them."""
    return Settings(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return again(tmp_path)


def test_recent_items_are_newest_first_each_once_and_not_too_many(settings: Settings, tmp_path: Path) -> None:
    for number in range(MAX_RECENT + 3):
        settings.add_recent(f"{number}.db")
    settings.add_recent("7.db")
    del settings
    recent = again(tmp_path).recent
    assert len(recent) == MAX_RECENT
    assert recent[0] == "7.db"
    assert len(set(recent)) == MAX_RECENT


@pytest.mark.parametrize("count", [1, 2])
def test_trust_is_remembered_for_the_folder_itself_only(tmp_path: Path, count: int) -> None:
    folders = [tmp_path / f"agent{number}" for number in range(count)]
    first = again(tmp_path)
    for folder in folders:
        (folder / "inner").mkdir(parents=True)
        first.trust(folder)
    del first
    later = again(tmp_path)
    assert all(later.trusts(folder) for folder in folders)
    assert not later.trusts(tmp_path)
    assert not later.trusts(folders[0] / "inner")
    assert later.trusts(folders[0] / "inner" / "..")


def test_layouts_are_remembered_and_forgotten(settings: Settings, tmp_path: Path) -> None:
    settings.save_layout("window", QByteArray(b"\x00\x01\xff"))
    settings.theme = "dark"
    del settings
    later = again(tmp_path)
    assert later.layout("window") == QByteArray(b"\x00\x01\xff")
    assert later.layout("panes") is None
    later.forget_layouts()
    assert later.layout("window") is None
    assert later.theme == "dark"
