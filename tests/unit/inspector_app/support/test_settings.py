from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray, QSettings

from inspector_app.support.file_lock import locked
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


def test_moving_preferences_does_not_wait_for_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    waits = []

    def lock(file: Path, seconds: float) -> AbstractContextManager[None]:
        waits.append(seconds)
        return locked(file, seconds)

    store = old_store(tmp_path)
    store.setValue("theme", "dark")
    store.sync()
    monkeypatch.setattr("inspector_app.support.preferences.locked", lock)
    with locked(tmp_path / "preferences.json.lock", 1), caplog.at_level("WARNING"):
        assert Settings(tmp_path).theme == "dark"
    assert waits == [0]
    assert "Another process has locked" in caplog.text
    assert Settings(tmp_path).theme == "dark"
    assert old_store(tmp_path).allKeys() == [], "the next start has moved it"
