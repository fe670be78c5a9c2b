from __future__ import annotations

import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QStandardPaths
from PySide6.QtWidgets import QApplication

from inspector_app.support.data_folder import APPLICATION, cache_folder, data_folder


def qt_folder() -> Path:
    return Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.GenericDataLocation)) / "agent-inspector"


@pytest.mark.parametrize("value", [None, "", "relative", "/somewhere/else", "/somewhere/else/"])
def test_the_folder_is_the_one_that_qt_names(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if value is None:
        monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    else:
        monkeypatch.setenv("XDG_DATA_HOME", value)
    assert data_folder() == qt_folder()


def test_other_systems_have_their_own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "darwin")
    assert data_folder() == tmp_path / "Library" / "Application Support" / "agent-inspector"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "Local"))
    assert data_folder() == tmp_path / "Local" / "agent-inspector"


@pytest.mark.parametrize("value", [None, "", "relative", "/somewhere/else"])
def test_the_cache_folder_is_the_one_that_qt_names(value: str | None, monkeypatch: pytest.MonkeyPatch, qapp: QApplication) -> None:
    before = qapp.applicationName()
    if value is None:
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    else:
        monkeypatch.setenv("XDG_CACHE_HOME", value)
    qapp.setApplicationName(APPLICATION)
    try:
        assert cache_folder() == Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.CacheLocation))
    finally:
        qapp.setApplicationName(before)


def test_other_systems_have_their_own_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache_folder() == tmp_path / "Library" / "Caches" / APPLICATION
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "Local"))
    assert cache_folder() == tmp_path / "Local" / APPLICATION / "cache"
