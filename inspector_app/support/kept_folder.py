"""Folders for sessions that are in no database of the user's: one for each window, which owns it by a lock as long as it lives.

unsaved/                            in the data folder
    lock                            held while folders are made, taken over or deleted
    20261127-231502-x8d2k1/         one window's
        window.lock                 held by the window; the system releases it when the window is killed
        sessions-1.db …             its databases, with their recordings, files and caches
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path

from inspector_app.support.data_folder import OWNER
from inspector_app.support.file_lock import locked
from runtime.support.durable_files import write_file

_LOCK = "lock"
_PATIENCE = 10.0  # seconds to wait for another process, which deletes folders at most
_PROBE = 256 * 1024  # bytes that must fit on the disk: an empty database and its log
_DAY = 86_400.0  # seconds


class KeptFolder:
    """A folder that this process owns.

    Args:
        path: the folder.
        lock: holds its lock.
    """

    def __init__(self, path: Path, lock: ExitStack) -> None:
        self.path = path
        self._lock = lock

    @classmethod
    def make(cls, root: Path) -> KeptFolder:
        """Make a folder that only the user can read.

        Args:
            root: the folder of all windows' folders.

        Raises:
            OSError: it cannot be made, or the disk is full.
        """
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        root.chmod(0o700)
        with locked(root / _LOCK, _PATIENCE):
            path = Path(tempfile.mkdtemp(prefix=time.strftime("%Y%m%d-%H%M%S-"), dir=root))
            folder = _owned(path)
            assert folder is not None
        try:
            write_file(path / "probe", bytes(_PROBE))
            (path / "probe").unlink()
        except OSError:
            folder.delete()
            raise
        return folder

    @property
    def databases(self) -> list[Path]:
        """The databases of its sessions that anything was written to, without recordings."""
        files = sorted(self.path.glob("sessions-*.db"))
        return [file for file in files if not file.name.endswith(".rec.db") and file.is_file() and file.stat().st_size > 0]

    @property
    def written(self) -> float:
        """When its sessions were last written, epoch seconds. A time in the future, from a wrong clock, becomes the present."""
        now = time.time()
        times = [entry.stat().st_mtime for entry in self.path.glob("sessions-*") if entry.is_file()]
        latest = max(times, default=now)
        if latest <= now:
            return latest
        for file in self.databases:
            os.utime(file)
        return now

    def release(self) -> None:
        """Leave the folder to the next start."""
        self._lock.close()

    def delete(self) -> None:
        """Delete the folder; what cannot be deleted is left."""
        for entry in self.path.glob("*"):  # none if the folder was deleted
            if entry.name != OWNER:
                delete_entry(entry)
        self._lock.close()  # Windows does not delete an open file
        shutil.rmtree(self.path, ignore_errors=True)


def take_over(root: Path, days: float, most_bytes: int) -> list[KeptFolder]:
    """Take over the folders of windows that no longer run, and delete what is beyond the bounds, the oldest first.

    The folder written last is not deleted for its size: the user has had no chance to save it.

    Args:
        root: the folder of all windows' folders; it need not exist.
        days: the greatest age.
        most_bytes: the greatest size of all folders together, those of living windows included.

    Returns:
        The others, the latest first.

    Raises:
        OSError: the folder cannot be read or locked.
    """
    if not root.is_dir():
        return []
    kept: list[KeptFolder] = []
    with locked(root / _LOCK, _PATIENCE):
        paths = [path for path in root.iterdir() if path.is_dir() and not path.is_symlink()]
        owned = {path: folder for path in paths if (folder := _owned(path)) is not None}
        used = sum(_size(path) for path in paths if path not in owned)
        oldest = time.time() - days * _DAY
        for folder in sorted(owned.values(), key=lambda each: each.written, reverse=True):
            used += _size(folder.path)
            if not folder.databases or folder.written < oldest or (kept and used > most_bytes):
                folder.delete()
            else:
                kept.append(folder)
    return kept


def delete_entry(entry: Path) -> None:
    """Delete a file, a link or a folder; what cannot be deleted is left."""
    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry, ignore_errors=True)
    else:
        with suppress(OSError):
            entry.unlink()


def _owned(path: Path) -> KeptFolder | None:
    """Return a folder, locked; None if a living process owns it."""
    lock = ExitStack()
    try:
        lock.enter_context(locked(path / OWNER, 0))
    except TimeoutError:
        return None
    return KeptFolder(path, lock)


def _size(folder: Path) -> int:
    return sum(entry.lstat().st_size for entry in folder.rglob("*"))
