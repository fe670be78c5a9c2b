"""The databases and agents that a server may look at, and the session that a question means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from inspector_app.exchange.otlp_sessions.trace_files import is_trace_file
from runtime.errors import KnownError, NotFoundError, SessionNotFoundError
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.reader import StoredDatabase
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    from inspector_app.exchange.otlp_sessions import trace_database
else:  # unpacking needs the runtime, which reading a database does not load
    trace_database = lazy_module("inspector_app.exchange.otlp_sessions.trace_database")

_AGENT_DATABASE = Path(".adk") / "session.db"
_SHOWN = 5  # candidates in a message


class AmbiguousError(KnownError):
    """Several things fit what a question names; the message lists them."""


class Places:
    """The databases of one server.

    Args:
        paths: as the user named them: databases, and agents' folders. Without any, a question may name any file.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self.agents = [path for path in paths if _is_agent(path)]
        self._named = [path for path in paths if path not in self.agents]
        self._named += [str(Path(path) / _AGENT_DATABASE) for path in self.agents if (Path(path) / _AGENT_DATABASE).is_file()]
        self._is_open = not paths
        self._added: list[str] = []

    @property
    def databases(self) -> list[str]:
        """The known databases; that of this server's own runs is the last."""
        return [*self._named, *self._added]

    def add(self, database: str) -> None:
        """Make a database known: that of this server's own runs."""
        if database not in self._added:
            self._added.append(database)

    def database(self, named: str | None) -> list[str]:
        """Return the databases that a question means.

        Args:
            named: a path, its last part, or a URL; None: all known ones.

        Raises:
            NotFoundError: there is no such database, or none is known.
        """
        if named is None:
            if not self.databases:
                raise NotFoundError("No database is known. Give `database`, the path of one.")
            return self.databases
        found = [known for known in self.databases if named in (known, Path(known).name)]
        if found:
            return found[:1]
        if not self._is_open:
            known = ", ".join(self.databases) or "none"
            raise NotFoundError(f"The server was not started on {named!r}. It knows: {known}.")
        return [named]

    def session(self, database: str | None, session: str | None) -> tuple[str, SessionKey]:
        """Return the database and the key of the session that a question means.

        Args:
            database: see `database`.
            session: an id or its beginning; None: the only one.

        Raises:
            NotFoundError: there is none.
            AmbiguousError: several fit.
        """
        fitting: list[tuple[str, SessionKey]] = []
        for target in self.database(database):
            with opened(target) as stored:
                keys = [summary.key for summary in stored.listing()]
            exact = [key for key in keys if key.session_id == session]
            fitting += [(target, key) for key in exact or keys if session is None or key.session_id.startswith(session)]
        whole = [each for each in fitting if each[1].session_id == session]
        fitting = whole or fitting
        if len(fitting) == 1:
            return fitting[0]
        if not fitting:
            raise SessionNotFoundError(
                f"There is no session {session!r}. Ask which_sessions." if session else "There are no sessions. Ask which_sessions."
            )
        shown = ", ".join(f"{key.session_id!r} of {key.app_name}/{key.user_id} in {target}" for target, key in fitting[:_SHOWN])
        more = f" and {len(fitting) - _SHOWN:,} more" if len(fitting) > _SHOWN else ""
        raise AmbiguousError(f"Several sessions fit: {shown}{more}. Give `session`, and `database` if ids are the same.")


@contextmanager
def opened(target: str) -> Iterator[StoredDatabase]:
    """Open a database, or a file of traces, for reading; it is closed at the end."""
    with StoredDatabase.open(readable(target)) as database:
        yield database


def readable(target: str) -> str:
    """Return the database that a question reads: that of a file of traces is a copy of it as it is now."""
    if not is_trace_file(target):
        return target
    stat = Path(target).stat()
    return _unpacked(target, (stat.st_ino, stat.st_size, stat.st_mtime_ns))[1]


@lru_cache(maxsize=8)
def _unpacked(target: str, _stamp: tuple[int, ...]) -> tuple[TemporaryDirectory[str], str]:
    """Return the database made of a file of traces, and its folder, which is deleted with the last reference."""
    folder = TemporaryDirectory(prefix="traces-", ignore_cleanup_errors=True)
    return folder, str(trace_database.unpack_traces(target, Path(folder.name))[0])


def whole_event_id(ids: Sequence[str], named: str) -> int:
    """Return the index of the event that an id, its beginning, or a number means.

    Args:
        ids: the ids of the session's events in order.
        named: what the question says; `#3`, and `3` if no id begins so, is the third event.

    Raises:
        NotFoundError: there is none.
        AmbiguousError: several ids begin like this.
    """
    if named in ids:
        return ids.index(named)
    found = [index for index, each in enumerate(ids) if each.startswith(named)] if named else []
    if len(found) == 1:
        return found[0]
    if found:
        raise AmbiguousError(f"{len(found)} events begin with {named!r}. Write more of the id, or #N for the N-th event.")
    number = named.removeprefix("#")
    if number.isdecimal() and 1 <= int(number) <= len(ids):
        return int(number) - 1
    raise NotFoundError(f"The session has no event {named!r}. Ask what_happened for its events.")


def _is_agent(path: str) -> bool:
    place = Path(path)
    return "://" not in path and (place.is_dir() or place.suffix in (".py", ".yaml"))
