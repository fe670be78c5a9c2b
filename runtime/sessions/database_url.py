"""What a person calls a database, as an SQLAlchemy URL of the driver we use."""

from __future__ import annotations

import re
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from runtime.errors.storage_error import StorageError

_DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}

_PASSWORD = re.compile(r"(://[^:/@]*:).*@")


def database_url(target: str | URL) -> URL:
    """Return the URL of a file path or of any of google-adk's URLs, with the synchronous driver we use.

    Args:
        target: a file path, or an SQLAlchemy URL such as `sqlite+aiosqlite:///./my.db` or `postgresql+asyncpg://…`.

    Raises:
        StorageError: it is an URL of a database that we do not serve.
    """
    if isinstance(target, str) and not re.match(r"[A-Za-z][\w+.]*://", target):
        return URL.create("sqlite", database=target)
    try:
        url = make_url(target)
    except (ArgumentError, ValueError) as error:  # ValueError: a port that is no number
        shown = _PASSWORD.sub(r"\1***@", str(target))
        raise StorageError(f"{shown} is no database URL.") from error
    driver = _DRIVERS.get(url.get_backend_name())
    if driver is None:
        raise StorageError(f"{url.get_backend_name()} databases are not supported; use SQLite or PostgreSQL.")
    return url.set(drivername=driver)


def file_of(url: URL) -> Path | None:
    """Return the file of an SQLite URL, None for a database in memory or on a server."""
    if url.get_backend_name() != "sqlite" or url.database in (None, "", ":memory:"):
        return None
    name = str(url.database)
    return Path(name.removeprefix("file:") if "uri" in url.query else name)
