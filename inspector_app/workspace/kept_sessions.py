"""Where the sessions of a window are that are in no database of the user's: in files of our own, which survive the window's process."""

from __future__ import annotations

import threading
from pathlib import Path

from inspector_app.support.kept_folder import KeptFolder, delete_entry, take_over
from inspector_app.support.preferences import Preferences
from inspector_app.workspace.messages import MessageBus
from runtime.errors.storage_error import StorageError

FOLDER = "unsaved"  # beside the preferences
_MEGABYTE = 1_000_000


class KeptSessions:
    """The folder of this window, and those that earlier windows left. Its methods block.

    Args:
        preferences: whether sessions are kept, and how long; the folders are beside its file.
        messages: receives why they cannot be kept.
    """

    def __init__(self, preferences: Preferences, messages: MessageBus) -> None:
        self._root = preferences.folder / FOLDER
        self._preferences = preferences
        self._messages = messages
        self._guard = threading.Lock()
        self._own: KeptFolder | None = None
        self._left: list[KeptFolder] = []
        self._fails = False

    @property
    def keeps(self) -> bool:
        """Whether new sessions are kept."""
        return not self._fails and self._preferences.unsaved_days > 0

    def new_file(self, name: str) -> Path | None:
        """Return an empty file in this window's folder that only the user can read; None if sessions are not kept."""
        with self._guard:
            if not self.keeps:
                return None
            try:
                if self._own is None:
                    self._own = KeptFolder.make(self._root)
                file = self._own.path / name
                file.touch(0o600, exist_ok=False)
            except OSError as error:
                self.give_up(f"{self._root} cannot be written: {error.strerror or error}.")
                return None
            return file

    def give_up(self, why: str) -> None:
        """Keep no sessions any more in this window, and say so."""
        self._fails = True
        self._messages.warning(f"New sessions of this window are in memory only. {why} Save them before you close the window.")

    def take_over(self) -> list[tuple[Path, float]]:
        """Return the databases that earlier windows left and when they were written, the latest first; delete those beyond the bounds."""
        days, most = self._preferences.unsaved_days, self._preferences.unsaved_megabytes * _MEGABYTE
        try:
            found = take_over(self._root, days or float("inf"), most)
        except OSError as error:
            self._messages.warning(f"Unsaved sessions of earlier windows cannot be read: {error}.")
            return []
        with self._guard:
            self._left += found
        return [(file, folder.written) for folder in found for file in folder.databases]

    def report(self, error: StorageError) -> None:
        """Say that a database of an earlier window cannot be read; it stays."""
        self._messages.warning(f"Unsaved sessions of an earlier window cannot be read. {error}")

    def forget(self, database: Path) -> None:
        """Delete a database of unsaved sessions that was saved, or that has none."""
        for entry in database.parent.glob(f"{database.stem}.*"):
            delete_entry(entry)

    def close(self, *, keep: bool) -> None:
        """Release the folders, so that the next start takes them over.

        Args:
            keep: whether to keep this window's own sessions; otherwise they are deleted.
        """
        with self._guard:
            own, self._own = self._own, None
            left, self._left = self._left, []
        if own is not None and not keep:
            own.delete()
            own = None
        for folder in (*left, *([own] if own is not None else ())):
            folder.release() if folder.databases else folder.delete()
