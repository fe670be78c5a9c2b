"""Full-text search over all sessions of a database file, with an index in our cache folder, never in the file.

The index holds only words and row numbers. Results are read from the database itself, so deleted events are never displayed. An update
continues after the last indexed row; if that row has changed, the index is rebuilt.
"""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from runtime.errors.storage_error import StorageError
from runtime.sessions.session_key import SessionKey
from runtime.storage.connections.database_errors import storage_error
from runtime.storage.connections.database_url import named_file
from runtime.storage.connections.open_files import open_files
from runtime.storage.layouts.column_values import as_name
from runtime.storage.layouts.table_names import OF_SESSION
from runtime.storage.reading.event_rows import read_offset
from runtime.storage.reading.notes import Notes
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.reading.searched_texts import DEEPEST, SEARCHED, STRUCTURE, searched_texts
from runtime.support.quick_json import from_json

MOST_BYTES = 4 * 1024**3  # of one index; later events are not searched, and the window reports it
MOST_KEPT, DAYS_KEPT = 20, 60  # number of indexes; days after its last use that an index is kept

_LONGEST_TEXT = 100_000  # indexed characters of one event
_PIECE = 2_000  # rows read at once, 30 ms of work; then the update can be cancelled
_COMMITTED = 20_000  # rows in one transaction, which are one part of the index; 3 MB of words, more than fit into a processor's cache
_VERSION = "3"
_SUFFIX = ".search.db"
# "0" while it is written: without a journal, a process that is killed then leaves a damaged index, which is made again.
_SET_WHOLE = "UPDATE about SET value = ? WHERE name = 'whole'"
_SCHEMA = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE VIRTUAL TABLE texts USING fts5(text, content='', columnsize=0, tokenize='unicode61 remove_diacritics 2');
"""
# Bytes gathered in memory, and parts of the index that are merged at once. Merging eight at once takes a fifth of FTS5's time, and a search
# in more parts a few milliseconds.
_SETTINGS = [("hashsize", 32 * 1024**2), ("automerge", 64), ("crisismerge", 65)]
_WORD = re.compile(r"[^\s\"]+")
_NOTE = "Note: "  # before the excerpt of a note
_BEFORE, _AFTER = 24, 240  # characters of an excerpt before and after the word that was found


@dataclass(frozen=True, slots=True)
class Hit:
    """An event that contains all the words.

    Attributes:
        key, event_id: the session and the event.
        author: the event's author.
        timestamp: the event's time in epoch seconds; 0.0 if the row has none.
        excerpt: the surroundings of the first word, in the text that contains most of the words.
        start, end: range of that word in the excerpt; both 0 if it is spelled differently there, for example with an accent.
    """

    key: SessionKey
    event_id: str
    author: str
    timestamp: float
    excerpt: str
    start: int
    end: int


class SearchIndex:
    """The index of one database file. Only one thread at a time may use it.

    Args:
        target: the database's path.
        folder: the folder of the indexes. It is created if it does not exist, readable by its owner only.

    Raises:
        StorageError: the database cannot be read or is not a file, or the index cannot be written.
    """

    def __init__(self, target: str, folder: Path) -> None:
        self._file = named_file(target)
        if self._file is None:
            raise StorageError("Only databases in files can be searched as a whole. Use the filter in a session.")
        self._database = StoredDatabase.open(str(self._file))
        layout = self._database.layout
        self._as_json, self._amend = layout.format.as_json, layout.format.amend
        self._columns = ["id", "event_data"] if self._as_json is None else layout.format.columns(layout.event_columns)
        self._offset = self._database.read(read_offset) if layout.format.has_local_times else 0
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            name = hashlib.sha256(os.fsencode(self._file.absolute())).hexdigest()[:24]
            self.path = folder / f"{name}{_SUFFIX}"
            self._index = self._open()
        except (sqlite3.Error, OSError) as error:
            self._database.close()
            raise StorageError(f"The search index in {folder} cannot be written ({error}).") from error
        self.is_full = False

    def _open(self) -> sqlite3.Connection:
        index = open_files.connect(self.path, isolation_level=None)
        try:
            about = _about(index)
            if about.get("version") == _VERSION and about.get("whole") == "1":
                return index
        except sqlite3.DatabaseError:
            pass
        index.close()
        _delete(self.path)
        return self._new()

    def _new(self) -> sqlite3.Connection:
        index = open_files.connect(self.path, isolation_level=None)
        self.path.chmod(0o600)
        index.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + _SCHEMA)
        index.executemany("INSERT INTO texts (texts, rank) VALUES (?, ?)", _SETTINGS)
        about = [("version", _VERSION), ("file", str(self._file)), ("last", "0"), ("id", ""), ("whole", "1")]
        index.executemany("INSERT INTO about VALUES (?, ?)", about)
        return index

    def update(self, progress: Callable[[int, int], bool]) -> None:
        """Index the events that the index does not have yet.

        Args:
            progress: called with the number of rows done and the total. If it returns False, the update stops; the next one continues
                from there.

        Raises:
            StorageError: the index or the database cannot be read or written.
        """
        try:
            self._update(progress)
        except sqlite3.Error as error:
            raise storage_error(error, str(self.path)) from error

    def _update(self, progress: Callable[[int, int], bool]) -> None:
        about = _about(self._index)
        last = int(about["last"])
        if last and self._id_at(last) != about["id"]:
            self._index.close()
            _delete(self.path)
            self._index = self._new()
            last = 0
        end: int = self._database.read(lambda connection: connection.execute("SELECT max(rowid) FROM events").fetchone()[0]) or 0
        self._index.execute(_SET_WHOLE, ("0",))
        self._add_rows(last, end, progress)
        self._index.execute(_SET_WHOLE, ("1",))

    def _add_rows(self, last: int, end: int, progress: Callable[[int, int], bool]) -> None:
        is_wanted = progress(last, end)
        while is_wanted and last < end:
            if self.path.stat().st_size > MOST_BYTES:
                self.is_full = True
                return
            first = last
            self._index.execute("BEGIN")
            try:
                while is_wanted and last < end and last - first < _COMMITTED:
                    rows = self._rows(last)
                    last = rows[-1][0] if rows else end
                    self._add(rows)
                    is_wanted = progress(last, end)
            finally:
                self._index.execute("COMMIT")

    def _add(self, rows: Sequence[tuple[int, str, str]]) -> None:
        self._index.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", [(rowid, text) for rowid, _, text in rows])
        about = [(str(rows[-1][0]), "last"), (rows[-1][1], "id")] if rows else []
        self._index.executemany("UPDATE about SET value = ? WHERE name = ?", about)

    def search(self, words: str, limit: int, notes: Callable[[StoredDatabase], Notes] = StoredDatabase.notes) -> list[Hit]:
        """Return the newest events that contain all the words, those whose notes do first. Each word also matches as a prefix.

        Args:
            words: the words as the user typed them.
            limit: maximum number of events.
            notes: returns the notes of the open database; by default, those in it.
        """
        wanted = [word for word in _WORD.findall(words) if any(letter.isalnum() for letter in word)]
        noted = self._noted(wanted, notes(self._database))[:limit] if wanted else []
        known = {(hit.key, hit.event_id) for hit in noted}
        return [*noted, *(hit for hit in self._stored(words, limit) if (hit.key, hit.event_id) not in known)][:limit]

    def _noted(self, wanted: list[str], notes: Notes) -> list[Hit]:
        """Return the events whose notes contain all the words, the newest note first."""
        beginnings = [re.compile(rf"\b{re.escape(word)}" if word[0].isalnum() else re.escape(word), re.IGNORECASE) for word in wanted]
        found = [
            (note.at, key, event_id, note.text)
            for key, noted in notes.items()
            for event_id, note in noted.items()
            if note.text and all(beginning.search(note.text) for beginning in beginnings)
        ]
        hits = [self._note_hit(key, event_id, text, wanted) for _, key, event_id, text in sorted(found, reverse=True)]
        return [hit for hit in hits if hit is not None]

    def _note_hit(self, key: SessionKey, event_id: str, text: str, wanted: list[str]) -> Hit | None:
        query = f"SELECT rowid FROM events WHERE {OF_SESSION} AND id = ?"
        row = self._database.read(lambda connection: connection.execute(query, (*key, event_id)).fetchone())
        hit = self._hit(row[0], wanted) if row is not None else None
        if hit is None:
            return None
        excerpt, start, end = _excerpt([text], wanted)
        return replace(hit, excerpt=f"{_NOTE}{excerpt}", start=start + len(_NOTE) * (end > start), end=end + len(_NOTE) * (end > start))

    def _stored(self, words: str, limit: int) -> list[Hit]:
        wanted = _WORD.findall(words)
        query = " AND ".join(f'"{word}"*' for word in wanted if any(letter.isalnum() for letter in word))
        if not query:
            return []
        try:
            rows = self._index.execute("SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rowid DESC LIMIT ?", (query, limit)).fetchall()
        except sqlite3.Error as error:
            raise storage_error(error, str(self.path)) from error
        return [hit for (rowid,) in rows if (hit := self._hit(rowid, wanted)) is not None]

    def close(self) -> None:
        """Close both files."""
        self._index.close()
        self._database.close()

    def _hit(self, rowid: int, wanted: list[str]) -> Hit | None:
        query = f"SELECT app_name, user_id, session_id, {', '.join(self._columns)} FROM events WHERE rowid = ?"
        row = self._database.read(lambda connection: connection.execute(query, (rowid,)).fetchone())
        if row is None:
            return None
        data = self._json(row[3:])
        time = data.get("timestamp")
        said = {name: value for name, value in data.items() if name in SEARCHED and name != "author"}
        author = str(data.get("author", ""))
        excerpt, start, end = _excerpt([*_texts(said, "", 0), author], wanted)
        timestamp = float(time) if isinstance(time, int | float) else 0.0
        return Hit(SessionKey(*map(as_name, row[:3])), str(row[3]), author, timestamp, excerpt, start, end)

    def _id_at(self, rowid: int) -> str | None:
        row = self._database.read(lambda connection: connection.execute("SELECT id FROM events WHERE rowid = ?", (rowid,)).fetchone())
        return str(row[0]) if row else None

    def _rows(self, last: int) -> list[tuple[int, str, str]]:
        """Return number, event id and text of the rows that follow one. A row is decoded while it is in the processor's cache."""
        query = f"SELECT rowid, {', '.join(self._columns)} FROM events WHERE rowid > ? ORDER BY rowid LIMIT {_PIECE}"
        text = self._text
        return self._database.read(lambda connection: [(row[0], str(row[1]), text(row[1:])) for row in connection.execute(query, (last,))])

    def _text(self, row: tuple[Any, ...]) -> str:
        return " ".join(searched_texts(self._json(row)))[:_LONGEST_TEXT]

    def _json(self, row: tuple[Any, ...]) -> dict[str, Any]:
        if self._as_json is not None:
            data: Any = self._as_json(dict(zip(self._columns, row, strict=True)), self._offset)
        else:
            try:
                data = from_json(row[1])
            except (ValueError, TypeError):
                data = {"content": str(row[1])}
            if self._amend is not None and isinstance(data, dict):
                self._amend(data)
        return data if isinstance(data, dict) else {}


def remove_stale(folder: Path) -> None:
    """Delete the indexes of deleted databases, those not used for `DAYS_KEPT` days, and the oldest ones above `MOST_KEPT`."""
    try:
        found = sorted(folder.glob(f"*{_SUFFIX}"), key=lambda path: path.stat().st_mtime, reverse=True)
    except OSError:
        return
    for number, path in enumerate(found):
        try:
            old = time.time() - path.stat().st_mtime > DAYS_KEPT * 86_400
            if number >= MOST_KEPT or old or not Path(_file_of_index(path)).exists():
                _delete(path)
        except OSError:
            continue


def _delete(path: Path) -> None:
    """Delete an index, and the journal of a process that was killed, which SQLite would apply to the next index of this name."""
    path.unlink()
    path.with_name(f"{path.name}-journal").unlink(missing_ok=True)


def _file_of_index(path: Path) -> str:
    index = open_files.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return _about(index).get("file", "")
    except sqlite3.DatabaseError:
        return ""
    finally:
        index.close()


def _about(index: sqlite3.Connection) -> dict[str, str]:
    if not index.execute("SELECT 1 FROM sqlite_master WHERE name = 'about'").fetchone():
        return {}
    return dict(index.execute("SELECT name, value FROM about").fetchall())


def _texts(value: Any, name: str, depth: int) -> Iterator[str]:
    """Yield the texts in a value, in order; those of state and arguments are preceded by their names."""
    if isinstance(value, dict) and depth < DEEPEST:
        for key, item in value.items():
            yield from _texts(item, "" if key in STRUCTURE else str(key), depth + 1)
    elif isinstance(value, list) and depth < DEEPEST:
        for item in value:
            yield from _texts(item, name, depth + 1)
    elif name or isinstance(value, str):
        yield f"{name}: {value}" if name else value


def _excerpt(texts: list[str], wanted: list[str]) -> tuple[str, int, int]:
    """Return an excerpt of the text that contains most of the words, and the range of the first word in it."""
    words = [word.casefold() for word in wanted]
    text = max(texts, key=lambda text: sum(word in text.casefold() for word in words))
    folded = text.casefold()
    place, length = next(((place, len(word)) for word in words if (place := folded.find(word)) >= 0), (0, 0))
    start = max(place - _BEFORE, 0)
    if start:
        start = text.find(" ", start, place) + 1 or place
    lead = ("…" if start else "") + " ".join(text[start:place].split()) + (" " if text[start:place][-1:].isspace() else "")
    rest = " ".join(text[place : place + _AFTER].split()) + ("…" if place + _AFTER < len(text) else "")
    return lead + rest, len(lead), len(lead) + length
