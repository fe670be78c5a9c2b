"""The lock between processes as on Windows, with a stand-in for the system's function. test_preferences.py has this system's."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from inspector_app.support import file_lock


class Msvcrt(ModuleType):
    """Locks as Windows does: a locked byte raises PermissionError at once, and closing the file unlocks it."""

    LK_NBLCK = 2

    def __init__(self) -> None:
        super().__init__("msvcrt")
        self.is_locked = False
        self.asked: list[tuple[int, int]] = []

    def locking(self, descriptor: int, mode: int, count: int) -> None:
        self.asked.append((mode, count))
        if self.is_locked:
            raise PermissionError(13, "Permission denied")


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> Msvcrt:
    system = Msvcrt()
    monkeypatch.setitem(sys.modules, "msvcrt", system)
    monkeypatch.setattr(sys, "platform", "win32")
    return system


@pytest.fixture
def windows(system: Msvcrt) -> ModuleType:
    """The module as Windows loads it."""
    assert file_lock.__file__ is not None
    spec = importlib.util.spec_from_file_location("file_lock_of_windows", file_lock.__file__)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_free_file_is_locked_by_its_first_byte(windows: ModuleType, system: Msvcrt, tmp_path: Path) -> None:
    with windows.locked(tmp_path / "lock", 0):
        assert system.asked == [(Msvcrt.LK_NBLCK, 1)]


def test_a_lock_of_another_process_is_waited_for_and_reported(windows: ModuleType, system: Msvcrt, tmp_path: Path) -> None:
    system.is_locked = True
    with pytest.raises(TimeoutError, match="Another process has locked"), windows.locked(tmp_path / "lock", 0.03):
        pass
    assert len(system.asked) > 1
