from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray, QSettings

from inspector_app.support.preferences import Preferences
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


def old_store(tmp_path: Path) -> QSettings:
    return QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)


def test_preferences_of_an_earlier_version_are_moved_once(tmp_path: Path) -> None:
    store = old_store(tmp_path)
    for key, value in {
        "recent": ["a.db", "b.db"],
        "trusted": [str(tmp_path)],
        "filters": ["error"],
        "theme": "dark",
        "pinned/a%2Fb": ["key", "user:key"],
        "saved_filters/app": '{"name": "text"}',
        "saved_filters/damaged": "{",
        f"breakpoints/{str(tmp_path).replace('/', '%2F')}": '{"breakpoints": []}',
        "layout/window": QByteArray(b"\x01"),
    }.items():
        store.setValue(key, value)
    store.sync()
    Preferences(tmp_path / "preferences.json").add_recent("newer.db")

    settings = Settings(tmp_path)
    assert settings.recent == ["newer.db", "a.db", "b.db"]
    assert not settings.trusted_code(tmp_path), "folders trusted by earlier versions are asked about once more"
    assert settings.filters == ["error"]
    assert settings.theme == "dark"
    assert settings.pinned("a/b") == ["key", "user:key"]
    assert settings.saved_filters("app") == {"name": "text"}
    assert settings.saved_filters("damaged") == {}
    assert settings.breakpoints(tmp_path) == '{"breakpoints": []}'
    assert settings.layout("window") == QByteArray(b"\x01")
    settings.remove_recent("a.db")
    del settings

    assert Settings(tmp_path).recent == ["newer.db", "b.db"]
    assert old_store(tmp_path).allKeys() == ["layout/window"]


@pytest.mark.logs("The preferences cannot be")
def test_old_values_stay_where_they_are_until_they_are_written(tmp_path: Path) -> None:
    old_store(tmp_path).setValue("theme", "light")
    (tmp_path / "preferences.json").mkdir()
    assert Settings(tmp_path).theme == "light"
    (tmp_path / "preferences.json").rmdir()
    assert old_store(tmp_path).value("theme") == "light"
    assert Settings(tmp_path).theme == "light"
    assert Preferences(tmp_path / "preferences.json").theme == "light"
