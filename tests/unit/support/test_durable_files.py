"""Folders that are written to disk, and systems that cannot open them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from runtime.support.durable_files import sync_folder


def test_a_folder_is_written_to_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    sync_folder(tmp_path)
    assert synced == ([] if sys.platform == "win32" else [tmp_path.stat().st_ino])


def test_windows_opens_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(os, "open", lambda *arguments: pytest.fail("it would raise PermissionError"))
    sync_folder(tmp_path)
