"""The folders of unsaved sessions: owned by one process each, and bounded."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector_app.support.data_folder import cache_folder, unsaved_folder
from inspector_app.support.kept_folder import KeptFolder, take_over

DAY = 86_400.0
MEGABYTE = 1_000_000
OTHER = """
import sys
from pathlib import Path
from inspector_app.support.kept_folder import KeptFolder
folder = KeptFolder.make(Path(sys.argv[1]))
(folder.path / "sessions-1.db").write_bytes(b"x" * int(sys.argv[2]))
print(folder.path, flush=True)
sys.stdin.read()
"""


def left(root: Path, size: int = 1_000, days: float = 0.0) -> Path:
    """Return the folder of a window that no longer runs."""
    folder = KeptFolder.make(root)
    file = folder.path / "sessions-1.db"
    file.touch()
    os.truncate(file, size)
    os.utime(file, (time.time() - days * DAY,) * 2)
    folder.release()
    return folder.path


def names(folders: list[KeptFolder]) -> list[Path]:
    for folder in folders:
        folder.release()
    return [folder.path for folder in folders]


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Callable[[int], tuple[subprocess.Popen[str], Path]]]:
    """Return a function that starts another process with a folder of its own."""
    started: list[subprocess.Popen[str]] = []

    def start(size: int) -> tuple[subprocess.Popen[str], Path]:
        command = [sys.executable, "-c", OTHER, str(tmp_path / "unsaved"), str(size)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        return process, Path(process.stdout.readline().strip())

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_only_the_user_can_read_it(tmp_path: Path) -> None:
    folder = KeptFolder.make(tmp_path / "data" / "unsaved")
    assert [stat.S_IMODE(path.stat().st_mode) for path in (folder.path.parent, folder.path)] == [0o700, 0o700]
    folder.delete()
    assert not folder.path.exists()


def test_a_living_processs_folder_is_not_taken_over_and_a_killed_ones_is_by_one(
    tmp_path: Path, other: Callable[[int], tuple[subprocess.Popen[str], Path]]
) -> None:
    process, path = other(1_000)
    assert take_over(tmp_path / "unsaved", 30, MEGABYTE) == []
    assert path.exists()
    process.send_signal(signal.SIGKILL)
    process.wait(30)
    found = take_over(tmp_path / "unsaved", 30, MEGABYTE)
    assert [folder.path for folder in found] == [path]
    assert take_over(tmp_path / "unsaved", 30, MEGABYTE) == [], "the first one owns it"
    found[0].release()
    assert names(take_over(tmp_path / "unsaved", 30, MEGABYTE)) == [path]


def test_many_starts_at_once_never_share_a_folder(tmp_path: Path) -> None:
    root = tmp_path / "unsaved"
    wanted = {str(left(root)) for _ in range(8)}
    code = (
        "import sys; from pathlib import Path; from inspector_app.support.kept_folder import take_over\n"
        "found = take_over(Path(sys.argv[1]), 30, 10**9); print(*[folder.path for folder in found], flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(root)]
    processes = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    found = [path for process in processes if process.stdout is not None for path in process.stdout.readline().split()]
    for process in processes:
        process.communicate()
    assert sorted(found) == sorted(wanted)


def test_a_folder_without_sessions_is_deleted(tmp_path: Path) -> None:
    path = left(tmp_path, size=0)
    assert take_over(tmp_path, 30, MEGABYTE) == []
    assert not path.exists()


def test_old_folders_are_deleted(tmp_path: Path) -> None:
    young, old = left(tmp_path, days=29.9), left(tmp_path, days=30.1)
    assert names(take_over(tmp_path, 30, MEGABYTE)) == [young]
    assert not old.exists()


def test_the_space_is_bounded_and_a_living_windows_folder_counts_but_stays(
    tmp_path: Path, other: Callable[[int], tuple[subprocess.Popen[str], Path]]
) -> None:
    _, living = other(500_000)
    root = tmp_path / "unsaved"
    newest, oldest, middle = left(root, 300_000, 1), left(root, 300_000, 3), left(root, 100_000, 2)
    assert names(take_over(root, 30, MEGABYTE)) == [newest, middle]
    assert living.exists() and not oldest.exists()


def test_the_last_folder_is_not_deleted_for_its_size(tmp_path: Path) -> None:
    last, before = left(tmp_path, 2 * MEGABYTE, 1), left(tmp_path, 1_000, 2)
    assert names(take_over(tmp_path, 30, MEGABYTE)) == [last]
    assert not before.exists()


def test_a_folder_that_a_wrong_clock_dated_ages_from_now_on(tmp_path: Path) -> None:
    path = left(tmp_path, days=-400)
    assert names(take_over(tmp_path, 30, MEGABYTE)) == [path]
    assert (path / "sessions-1.db").stat().st_mtime <= time.time()


@given(st.lists(st.tuples(st.integers(1, 600), st.integers(0, 40)), max_size=8, unique_by=lambda each: each[1]))
def test_what_is_kept_is_the_newest_within_the_bounds(tmp_path_factory: pytest.TempPathFactory, folders: list[tuple[int, int]]) -> None:
    root = tmp_path_factory.mktemp("unsaved")
    paths = {left(root, size, days): (size, days) for size, days in folders}
    kept = names(take_over(root, 30.5, 1_000))
    assert [path for path in paths if path.exists()] == [path for path in paths if path in kept]
    assert kept == sorted(kept, key=lambda path: paths[path][1])
    assert all(paths[path][1] <= 30 for path in kept)
    assert sum(paths[path][0] for path in kept) <= 1_000 or len(kept) == 1
    deleted = [path for path in paths if path not in kept and paths[path][1] <= 30]
    if deleted:
        first = min(deleted, key=lambda path: paths[path][1])
        assert sum(paths[path][0] for path in (*kept, first)) > 1_000, "no more is deleted than has to be"


def test_links_and_other_files_are_left_alone(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "unsaved", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "sessions-1.db").write_text("mine")
    root.mkdir()
    (root / "link").symlink_to(elsewhere)
    (root / "file").touch()
    assert take_over(root, 0, 0) == []
    assert (elsewhere / "sessions-1.db").read_text() == "mine"
    folder = KeptFolder.make(root)
    (folder.path / "link").symlink_to(elsewhere)
    folder.delete()
    assert (elsewhere / "sessions-1.db").exists() and not folder.path.exists()


def test_a_full_disk_is_found_before_a_session_is_made(tmp_path: Path) -> None:
    code = (
        "import resource, signal, sys; from pathlib import Path; from inspector_app.support.kept_folder import KeptFolder\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "KeptFolder.make(Path(sys.argv[1]))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert "OSError" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]


def test_what_is_computed_from_unsaved_sessions_is_beside_them(tmp_path: Path) -> None:
    path = left(tmp_path)
    assert unsaved_folder(str(path / "sessions-1.db")) == path
    assert cache_folder(str(path / "sessions-1.db")) == path / "cache"
    assert unsaved_folder(str(tmp_path / "my.db")) is None
    assert unsaved_folder("") is None and unsaved_folder("postgresql://h/d") is None and unsaved_folder("memory:") is None
    assert cache_folder("") == cache_folder()
