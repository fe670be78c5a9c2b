"""The services to check: ours, or google-adk's if the clauses run with it (see `names.PACKAGE`)."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from tests.conformance.clause import REOPENING, STALE_COPIES, Backend
from tests.conformance.names import PACKAGE

IN_MEMORY = {
    REOPENING: "it lives as long as the process",
    STALE_COPIES: "only this process can write, and appends from several copies are all kept",
}


def backends() -> list[Backend]:
    """Return the services of the package whose names the clauses use, without PostgreSQL's."""
    return _ours() if PACKAGE == "runtime" else _google_adks()


def _ours() -> list[Backend]:
    from runtime.sessions import DatabaseSessionService, InMemorySessionService, SqliteSessionService

    return [
        Backend("in memory", lambda folder: InMemorySessionService(), IN_MEMORY),
        Backend("SQLite", lambda folder: DatabaseSessionService(f"sqlite:///{folder / 'v1.db'}")),
        Backend("adk web's layout", lambda folder: SqliteSessionService(folder / "session.db")),
    ]


def postgresql() -> Backend:
    """Return our service on the tests' PostgreSQL server, or skip the test if there is none."""
    from runtime.sessions import DatabaseSessionService
    from tests.postgres import server

    def opened(folder: Path) -> DatabaseSessionService:
        remembered = folder / "url"
        if not remembered.exists():
            remembered.write_text(server().new_database())
        return DatabaseSessionService(remembered.read_text())

    return Backend("PostgreSQL", opened)


def _google_adks() -> list[Backend]:
    def named(module: str, name: str) -> Any:
        return getattr(importlib.import_module(f"{PACKAGE}.sessions.{module}"), name)

    in_memory = named("in_memory_session_service", "InMemorySessionService")
    database = named("database_session_service", "DatabaseSessionService")
    sqlite = named("sqlite_session_service", "SqliteSessionService")
    return [
        Backend("in memory", lambda folder: in_memory(), IN_MEMORY),
        Backend("SQLite", lambda folder: database(f"sqlite+aiosqlite:///{folder / 'v1.db'}")),
        Backend("adk web's layout", lambda folder: sqlite(str(folder / "session.db"))),
    ]


class NoSuchServiceError(Exception):
    """The named function does not exist; the message says why."""


def named_backend(name: str) -> Backend:
    """Return the service of a named function.

    Args:
        name: `MODULE:FUNCTION`. The function takes a folder, empty or used before, and returns a service that stores there. It may have an
            attribute `unsupported`: feature that the service does not support → reason.

    Raises:
        NoSuchServiceError: the module or the function does not exist.
    """
    module, _, function = name.partition(":")
    try:
        opened = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise NoSuchServiceError(f"There is no service {name!r}: {error}. Name a function as MODULE:FUNCTION.") from None
    return Backend(function, opened, getattr(opened, "unsupported", {}))
