"""What a person calls a database, as an SQLAlchemy URL of the driver we use."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.errors.storage_error import StorageError

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

_DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}


_WITH_PASSWORD: dict[str, URL] = {}
"""What `keep_password` was given, by how it is shown. In memory only."""


def keep_password(target: str, password: str = "") -> str:
    """Return how to call a database on a server from now on: its URL without the password, which this process remembers.

    So no list, message or copied command line can show it.

    Args:
        target: an URL, with or without a password.
        password: taken in place of the URL's, if there is one.

    Raises:
        StorageError: it is an URL of a database that we do not serve.
    """
    url = database_url(target)
    if password:
        url = url.set(password=password)
    shown = shown_url(url)
    if url.password or shown_url(url) != url.set(drivername=url.get_backend_name()).render_as_string(hide_password=False):
        _WITH_PASSWORD[shown] = url
    return shown


def database_url(target: str | URL) -> URL:
    """Return the URL of a file path or of any of google-adk's URLs, with the synchronous driver we use.

    Args:
        target: a file path, or an SQLAlchemy URL such as `sqlite+aiosqlite:///./my.db` or `postgresql+asyncpg://…`.

    Raises:
        StorageError: it is an URL of a database that we do not serve.
    """
    from sqlalchemy.engine import URL, make_url
    from sqlalchemy.exc import ArgumentError

    if isinstance(target, str) and target in _WITH_PASSWORD:
        return _WITH_PASSWORD[target]
    if isinstance(target, str) and not _is_url(target):
        return URL.create("sqlite", database=target)
    try:
        url = make_url(target)
    except (ArgumentError, ValueError) as error:  # ValueError: a port that is not a number
        # Not said what it is: it may hold a password.
        raise StorageError("This is no database URL; one looks like postgresql://user@host/database.") from error
    driver = _DRIVERS.get(url.get_backend_name())
    if driver is None:
        name = url.get_backend_name()
        raise StorageError(
            f"Databases of {name}:// are not supported. A server's URL begins with postgresql://. Open an SQLite file as a file."
        )
    return url.set(drivername=driver)


def named_file(target: str) -> Path | None:
    """Return the file that a path or an SQLite URL names, None for a database in memory or on a server.

    Of a path without SQLAlchemy, which takes 20 MB and 150 ms to load: a window that only looks at a file needs none of it.

    Raises:
        StorageError: it is an URL of a database that we do not serve.
    """
    if _is_url(target):
        return file_of(database_url(target))
    return Path(target) if target not in ("", ":memory:") else None


def _is_url(target: str) -> bool:
    return re.match(r"[A-Za-z][\w+.]*://", target) is not None


def shown_url(url: URL) -> str:
    """Return what to call a database on a server: its URL without driver and password."""
    query = {name: value for name, value in url.query.items() if "pass" not in name}
    return url._replace(drivername=url.get_backend_name(), password=None).set(query=query).render_as_string(hide_password=True)


def without_password(target: str) -> str:
    """Return a path as it is, and a database's URL as it may be written down: without its password.

    Raises:
        StorageError: it is an URL of a database that we do not serve.
    """
    return shown_url(database_url(target)) if "://" in target else target


def without_written_password(written: str) -> str:
    """Return what was typed as a URL, which need not be one, without what may be a password in it."""
    kept = re.sub(r"(?<=://)([^:@/]*):.*@", r"\1@", written)
    return re.sub(r"([?&][^=&]*pass[^=&]*=)[^&]*", r"\1", kept)


def file_of(url: URL) -> Path | None:
    """Return the file of an SQLite URL, None for a database in memory or on a server."""
    if url.get_backend_name() != "sqlite" or url.database in (None, "", ":memory:"):
        return None
    name = str(url.database)
    return Path(name.removeprefix("file:") if "uri" in url.query else name)
