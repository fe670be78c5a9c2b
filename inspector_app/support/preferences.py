"""The user's preferences, shared by the window, the commands and every running inspector. No Qt."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Generic, TypeVar

from inspector_app.support.data_folder import data_folder
from inspector_app.support.file_lock import locked
from runtime.support.bounded import read_file
from runtime.support.durable_files import write_file
from runtime.support.serial_thread import SerialThread

MOST_BYTES = 4_000_000  # of the file; a real one has some 10 KB
MAX_RECENT = 10  # entries; the start page has room for that many
UNSAVED_DAYS = 30  # unless the user chose otherwise: longer than a holiday
UNSAVED_MEGABYTES = 500  # unless the user chose otherwise
_LOCK_SECONDS = 1.0  # a write takes milliseconds, and the window does not repaint meanwhile

T = TypeVar("T")
Change = Callable[[dict[str, Any]], None]

_log = logging.getLogger(__name__)


class _Kept(Generic[T]):
    """A value of the preferences.

    Args:
        read: returns it of what the file has under its name, None if there is nothing.
    """

    def __init__(self, read: Callable[[Any], T]) -> None:
        self._of = read

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, preferences: Preferences, owner: type) -> T:
        return self._of(preferences._read().get(self._name))

    def __set__(self, preferences: Preferences, value: T) -> None:
        preferences._change(lambda values: values.update({self._name: value}))


class Preferences:
    """Recent items, filters, trusted folders, engines, breakpoints, pinned keys and the theme, in one JSON file.

    Each read sees what other processes have written since. Each write merges one change into the current file and replaces the file
    atomically. Entries that this version does not know are kept. A file that cannot be written loses nothing in this process: the values
    stay in memory.

    The window writes on a thread of its own (`write_in_background`), because a write may wait for another process and for the disk.

    Args:
        file: `preferences.json` in the data folder if None.
    """

    theme = _Kept(lambda value: str(value or "system"))
    """`light`, `dark`, `contrast` or `system`."""
    motion = _Kept(lambda value: str(value or "system"))
    """`system`, `reduced` or `full`."""
    text_scale = _Kept(lambda value: value if isinstance(value, int) else 100)
    """Size of text and rows in per cent."""
    compact_rows = _Kept(lambda value: value is True)
    """Whether rows of lists, trees and tables are low."""
    records_requests = _Kept(lambda value: value is not False)
    """Whether runs of the window record their model requests beside the database."""
    editor = _Kept(lambda value: value if isinstance(value, str) else "")
    """The command of the user's editor; empty if none was chosen."""
    filters = _Kept(lambda value: _strings(value))
    """Filters of the event stream that found something, the latest first."""
    unsaved_days = _Kept(lambda value: _at_least_zero(value, UNSAVED_DAYS))
    """How many days the unsaved sessions of a window that was killed are kept; 0: sessions are unsaved in memory only."""
    unsaved_megabytes = _Kept(lambda value: _at_least_zero(value, UNSAVED_MEGABYTES))
    """How much space the unsaved sessions of all windows may take, in megabytes."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file or data_folder() / "preferences.json"
        self._values: dict[str, Any] = {}
        self._data = b""
        self._version: tuple[int, int, int] | None = None
        self._reported = ""
        self._writer: SerialThread | None = None
        self._guard = threading.RLock()  # of the changes below, and of the values while there is a writer
        self._pending: list[Change] = []  # changes on their way into the file, while there is a writer

    @property
    def folder(self) -> Path:
        """The folder of the file, where other files of the inspector may be."""
        return self._file.parent

    def write_in_background(self) -> None:
        """Write on a thread from now on; call `close` in the end. Reads see a change at once, as before."""
        if self._writer is None:
            self._behind = Preferences(self._file)
            self._writer = SerialThread("preferences")

    async def close(self) -> None:
        """Wait until all changes are written; later ones are written at once."""
        writer, self._writer = self._writer, None
        if writer is not None:
            await writer.close_and_wait(self._write_pending)

    @property
    def recent(self) -> list[str]:
        """The items opened last, newest first: paths and database URLs."""
        return _strings(self._read().get("recent"))

    def add_recent(self, item: str) -> None:
        """Put an item first among the recent ones."""
        self._change(lambda values: values.update(recent=[item, *_others(values, item)][:MAX_RECENT]))

    def remove_recent(self, item: str) -> None:
        """Remove a recent item that cannot be opened."""
        self._change(lambda values: values.update(recent=_others(values, item)))

    def pinned(self, app_name: str) -> list[str]:
        """Return the state keys that are shown first in an app's sessions."""
        return _strings(self._table("pinned").get(app_name))

    def keep_pinned(self, app_name: str, keys: list[str]) -> None:
        """Remember an app's pinned keys."""
        self._change_in("pinned", app_name, list(keys))

    def saved_filters(self, app_name: str) -> dict[str, str]:
        """Return an app's named filters, name → filter, in the order they were first saved."""
        return {name: str(text) for name, text in _table(self._table("saved_filters").get(app_name)).items()}

    def keep_saved_filters(self, app_name: str, filters: dict[str, str]) -> None:
        """Remember an app's named filters."""
        self._change_in("saved_filters", app_name, dict(filters))

    def new_session(self, app_name: str) -> dict[str, Any]:
        """Return with what an app's session was begun last; empty if it was never chosen."""
        return _table(self._table("new_sessions").get(app_name))

    def keep_new_session(self, app_name: str, choice: dict[str, Any]) -> None:
        """Remember with what an app's session was begun."""
        self._change_in("new_sessions", app_name, choice)

    def trusted_code(self, folder: Path) -> dict[str, Any]:
        """Return what is remembered about the trusted code of this very folder; empty if it is not trusted."""
        return _table(self._table("trusted_code").get(str(folder.resolve())))

    def keep_trusted_code(self, folder: Path, code: dict[str, Any]) -> None:
        """Remember the code of a folder that may run."""
        self._change_in("trusted_code", str(folder.resolve()), code)

    @property
    def trusted(self) -> list[tuple[str, str]]:
        """What is trusted, each with what is trusted about it: folders with their code, and servers of other machines."""
        folders = self._table("trusted_code").items()
        return [
            *((name, "this code and later changes" if _table(code).get("changes") is True else "this code") for name, code in folders),
            *((host, "server") for host in self.trusted_hosts),
        ]

    def revoke_trust(self, names: Iterable[str]) -> None:
        """Forget that some folders and servers are trusted; see `trusted`."""
        gone = {*names}

        def change(values: dict[str, Any]) -> None:
            kept = {name: code for name, code in _table(values.get("trusted_code")).items() if name not in gone}
            hosts = [host for host in _strings(values.get("trusted_hosts")) if host not in gone]
            values.update(trusted_code=kept, trusted_hosts=hosts)

        self._change(change)

    def engine(self, folder: Path) -> dict[str, Any]:
        """Return what was chosen to run the agent in a folder; empty if nothing was."""
        return _table(self._table("engines").get(str(folder.resolve())))

    def keep_engine(self, folder: Path, choice: dict[str, Any]) -> None:
        """Remember what runs the agent in a folder."""
        self._change_in("engines", str(folder.resolve()), choice)

    def breakpoints(self, folder: Path) -> str:
        """Return the breakpoints of the agent in a folder, as JSON; empty if there are none."""
        return str(self._table("breakpoints").get(str(folder.resolve()), ""))

    def keep_breakpoints(self, folder: Path, text: str) -> None:
        """Remember an agent's breakpoints."""
        self._change_in("breakpoints", str(folder.resolve()), text)

    def last_folder(self, kind: str) -> str:
        """Return the folder of the last file of a kind that was chosen in a dialog; empty if none was."""
        return str(self._table("last_folders").get(kind, ""))

    def keep_last_folder(self, kind: str, folder: str) -> None:
        """Remember the folder of a chosen file."""
        self._change_in("last_folders", kind, folder)

    @property
    def trusted_hosts(self) -> list[str]:
        """Other machines whose servers may be opened."""
        return _strings(self._read().get("trusted_hosts"))

    def trust_host(self, host: str) -> None:
        """Remember that a machine's servers may be opened."""
        self._change(lambda values: values.update(trusted_hosts=[*dict.fromkeys((*_strings(values.get("trusted_hosts")), host))]))

    @property
    def prices(self) -> dict[str, Any]:
        """The user's own prices of models; see `own_prices`."""
        return self._table("prices")

    def keep_prices(self, prices: dict[str, Any]) -> None:
        """Remember the user's own prices of models."""
        self._change(lambda values: values.update(prices=dict(prices)))

    @property
    def kept_keys(self) -> dict[str, str]:
        """The names of the keys in the system's keyring, each with the time it was stored; never a key itself."""
        return {name: str(stored) for name, stored in self._table("kept_keys").items()}

    def keep_key(self, name: str, stored: str | None) -> None:
        """Remember when a key was stored in the keyring; None: it was removed there."""
        self._change(
            lambda values: values.update(kept_keys=_without(_table(values.get("kept_keys")), name) | ({name: stored} if stored else {}))
        )

    def _table(self, name: str) -> dict[str, Any]:
        return _table(self._read().get(name))

    def _read(self) -> dict[str, Any]:
        with self._guard:
            try:
                self._refresh()
            except OSError as error:
                self._report(f"The preferences cannot be read: {error}.")
            return self._values

    def _change_in(self, name: str, key: str, value: Any) -> None:
        self._change(lambda values: values.update({name: {**_table(values.get(name)), key: value}}))

    def _change(self, change: Change) -> bool:
        """Apply a change to the newest values and write them; return whether they were written, or will be on the thread.

        Args:
            change: applied twice if writing fails.
        """
        if self._writer is not None:
            with self._guard:
                change(self._read())
                self._pending.append(change)
            self._writer.submit(self._write_pending)
            return True
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with locked(self._file.with_name(f"{self._file.name}.lock"), _LOCK_SECONDS):
                self._refresh()
                change(self._values)
                self._write()
        except OSError as error:
            change(self._values)
            self._report(f"The preferences cannot be saved, and are kept until the program ends: {error}.")
            return False
        return True

    def _write_pending(self) -> None:
        """Write all changes so far at once, those included that could not be written before. Runs on the thread."""
        with self._guard:
            changes = list(self._pending)

        def apply(values: dict[str, Any]) -> None:
            for change in changes:
                change(values)

        if changes and self._behind._change(apply):
            with self._guard:
                del self._pending[: len(changes)]

    def _refresh(self) -> None:
        """Read the file if it was replaced since it was last read."""
        version = self._current_version()
        if version == self._version:
            return
        data = read_file(self._file, MOST_BYTES) if version is not None else b"{}"
        values = _decode(data)
        if values is None:
            self._set_aside(data)
        self._values, self._data, self._version = values or {}, data, version
        for change in self._pending:
            change(self._values)

    def _write(self) -> None:
        # A name of a file that is not UTF-8 has halves of surrogate pairs; they become JSON's escapes.
        data = json.dumps(self._values, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace")
        if data == self._data:
            return
        file = self._file.resolve()  # a link stays one
        new = file.with_name(f"{file.name}.new")
        new.unlink(missing_ok=True)  # left by a process that was killed; the lock excludes another writer
        write_file(new, data)
        new.replace(file)
        self._data, self._version = data, self._current_version()

    def _current_version(self) -> tuple[int, int, int] | None:
        try:
            stat = self._file.stat()
        except FileNotFoundError:
            return None
        return stat.st_ino, stat.st_mtime_ns, stat.st_size

    def _set_aside(self, damaged: bytes) -> None:
        copy = self._file.with_name(f"{self._file.stem}.damaged-{time.strftime('%Y%m%d-%H%M%S')}{self._file.suffix}")
        copy.write_bytes(damaged)
        self._report(f"{self._file} is damaged: the preferences start empty. {copy} is a copy of the damaged file.")

    def _report(self, sentence: str) -> None:
        if sentence != self._reported:
            _log.warning(sentence)
        self._reported = sentence


def _decode(data: bytes) -> dict[str, Any] | None:
    """Return a file's values; None if it is damaged."""
    try:
        values = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def _strings(found: Any) -> list[str]:
    return [str(item) for item in found] if isinstance(found, list) else []


def _others(values: dict[str, Any], item: str) -> list[str]:
    return [old for old in _strings(values.get("recent")) if old != item]


def _table(found: Any) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}


def _at_least_zero(value: Any, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else default


def _without(table: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in table.items() if key != name}
