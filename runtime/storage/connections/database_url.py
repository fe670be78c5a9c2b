"""Conversion of file paths and URLs that users give to SQLAlchemy URLs for our drivers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.errors.storage_error import StorageError

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

_DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}

_WITH_PASSWORD: dict[str, URL] = {}  # displayed URL → URL with password, from `keep_password`; kept in memory only


def keep_password(target: str, password: str = "") -> str:
    """Return a server database's URL without the password, and remember the password in this process.

    Lists, messages and copied command lines use the returned URL, so they cannot show the password.

    Args:
        target: a URL, with or without a password.
        password: replaces the password in the URL unless it is empty.

    Raises:
        StorageError: the URL's database is not supported.
    """
    url = database_url(target)
    if password:
        url = url.set(password=password)
    shown = shown_url(url)
    if url.password or shown_url(url) != url.set(drivername=url.get_backend_name()).render_as_string(hide_password=False):
        _WITH_PASSWORD[shown] = url
    return shown


def database_url(target: str | URL) -> URL:
    """Return the URL for a file path or a URL of google-adk, with our synchronous driver.

    Args:
        target: a file path, or an SQLAlchemy URL such as `sqlite+aiosqlite:///./my.db` or `postgresql+asyncpg://…`.

    Raises:
        StorageError: the URL's database is not supported.
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
        # The message does not quote the input, which may contain a password.
        raise StorageError("This is not a database URL. An example is postgresql://user@host/database.") from error
    driver = _DRIVERS.get(url.get_backend_name())
    if driver is None:
        name = url.get_backend_name()
        raise StorageError(
            f"Databases of {name}:// are not supported. A server's URL begins with postgresql://. Open an SQLite file as a file."
        )
    return url.set(drivername=driver)


def named_file(target: str) -> Path | None:
    """Return the file that a path or an SQLite URL names, or None for a database in memory or on a server.

    A path is handled without loading SQLAlchemy, which a window that only reads files does not need.

    Raises:
        StorageError: the URL's database is not supported.
    """
    if _is_url(target):
        return file_of(database_url(target))
    return Path(target) if target not in ("", ":memory:") else None


def _is_url(target: str) -> bool:
    return re.match(r"[A-Za-z][\w+.]*://", target) is not None


def shown_url(url: URL) -> str:
    """Return a server database's URL for display, without driver and password."""
    query = {name: value for name, value in url.query.items() if "pass" not in name}
    return url._replace(drivername=url.get_backend_name(), password=None).set(query=query).render_as_string(hide_password=True)


def without_password(target: str) -> str:
    """Return a path unchanged, and a database's URL without its password.

    Raises:
        StorageError: the URL's database is not supported.
    """
    return shown_url(database_url(target)) if "://" in target else target


def without_written_password(written: str) -> str:
    """Return text typed as a URL, valid or not, without the part that may be a password."""
    kept = re.sub(r"(?<=://)([^:@/]*):.*@", r"\1@", written)
    return re.sub(r"([?&][^=&]*pass[^=&]*=)[^&]*", r"\1", kept)


def file_of(url: URL) -> Path | None:
    """Return the file of an SQLite URL, or None for a database in memory or on a server."""
    if url.get_backend_name() != "sqlite" or url.database in (None, "", ":memory:"):
        return None
    name = str(url.database)
    return Path(name.removeprefix("file:") if "uri" in url.query else name)
