"""Conversion of file paths and URLs that users give to SQLAlchemy URLs for our drivers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from runtime.errors.storage_error import StorageError

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

_DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}

# The message does not quote the input, which may contain a password.
_NO_URL = "This is not a database URL. An example is postgresql://user@host/database."
_SCHEME = re.compile(r"[^@]*?[/\\]{2,}|\s*[A-Za-z][\w+.-]*\s*(?::\s*)?[/\\]|\s*:\s*[/\\]+")
_SECRET_PARAMETER = re.compile(r"(?:^|[=&;\s])(?=[^=&;\s]*=)[^=&;\s]*(?:pass|pwd|secret|token|key)[^=&;\s]*=([^&;\s]*)", re.IGNORECASE)

_WITH_PASSWORD: dict[str, URL] = {}  # displayed URL → URL with password, from `keep_password`; kept in memory only
_MIRRORS: dict[str, Path] = {}  # URL of sessions that are no database → the file with what was read of them
_REMOTE = ("http://", "https://", "agentengine://")


def is_remote(target: str) -> bool:
    """Return whether a target means sessions that are kept by another program's server, not in a database."""
    return target.startswith(_REMOTE)


@contextmanager
def mirrored(target: str, file: Path) -> Iterator[None]:
    """Let a file be read in place of a URL of `is_remote`, in this process, until the context ends."""
    _MIRRORS[target] = file
    try:
        yield
    finally:
        del _MIRRORS[target]


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
    if isinstance(target, str) and is_remote(target):
        raise StorageError(f"{without_written_password(target)} is no database: its sessions can be read, but not written by this command.")
    if isinstance(target, str) and not _is_url(target):
        check_not_mistyped(target)
        return URL.create("sqlite", database=target)
    try:
        url = make_url(target)
    except (ArgumentError, ValueError) as error:  # ValueError: a port that is not a number
        raise StorageError(_NO_URL) from error
    if "@" in (url.host or ""):
        raise StorageError("The database URL has more than one @. In a password, write %40 for @, %3A for : and %2F for /.")
    if "@" in (url.database or "") and url.get_backend_name() != "sqlite":  # one slash too many makes name and password the database's
        raise StorageError(_NO_URL)
    driver = _DRIVERS.get(url.get_backend_name())
    if driver is None:
        name = url.get_backend_name()
        raise StorageError(
            f"Databases of {name}:// are not supported. A server's URL begins with postgresql://. Open an SQLite file as a file."
        )
    return url.set(drivername=driver)


def sqlite_uri(url: URL) -> URL:
    """Return an SQLite URL whose query parameters reach SQLite, which reads them only from a name that begins with `file:`.

    Args:
        url: a URL; returned unchanged if it has no parameters, names no file, or is already of this form.
    """
    if not url.query or "uri" in url.query or url.database in (None, "", ":memory:"):
        return url
    return url.set(database=f"file:{quote(os.fsencode(str(url.database)))}").update_query_dict({"uri": "true"})


def named_file(target: str) -> Path | None:
    """Return the file that a path or an SQLite URL names, or None for a database in memory or on a server.

    A path is handled without loading SQLAlchemy, which a window that only reads files does not need.

    Raises:
        StorageError: the URL's database is not supported.
    """
    if target in _MIRRORS:
        return _MIRRORS[target]
    if _is_url(target):
        return file_of(database_url(target))
    check_not_mistyped(target)
    return Path(target) if target not in ("", ":memory:") else None


def _is_url(target: str) -> bool:
    return re.match(r"[A-Za-z][\w+.]*://", target) is not None


def shown_url(url: URL) -> str:
    """Return a server database's URL for display, without driver and password."""
    query = {name: value for name, value in url.query.items() if "pass" not in name}
    user = url.username and url.username.partition(":")[0]  # in a mistyped URL, the password may follow an escaped colon
    shown = url._replace(drivername=url.get_backend_name(), username=user, password=None)
    return shown.set(query=query).render_as_string(hide_password=True)


def without_password(target: str) -> str:
    """Return a path unchanged, and a database's URL without its password.

    Raises:
        StorageError: the URL's database is not supported.
    """
    if is_remote(target):
        return without_written_password(target)
    return shown_url(database_url(target)) if "://" in target else target


def without_written_password(written: str) -> str:
    """Return text typed as a URL, valid or not, without the parts that may be passwords."""
    kept = re.sub(r"//[^/?#]*@", "//", written) if is_remote(written) else written
    for password in written_passwords(written):
        kept = kept.replace(f":{password}@", "@").replace(password, "")
    return kept


def written_passwords(written: str) -> list[str]:
    """Return the parts of text typed as a URL, valid or not, that may be passwords.

    A mistyped URL is no URL: a slash, the scheme or the `@` is missing. More is hidden than necessary rather than less.
    """
    scheme = _SCHEME.match(written)
    found = [match[1] for match in _SECRET_PARAMETER.finditer(written)]
    if "%" in written and (unquoted := unquote(written)) != written:
        found += written_passwords(unquoted)
    if written.startswith("sqlite") and "@" not in written:
        return [part for part in found if part]
    rest = written[scheme.end() :] if scheme else written
    before, at, _ = rest.rpartition("@")
    if at and is_remote(written):  # there may be a token without a name
        found += before.split(":", 1)
    elif at:
        found.append(before.partition(":")[2])
    elif scheme and not rest.startswith("["):
        after = rest.partition(":")[2]
        found.append("" if re.match(r"\d*(?:[/?]|$)", after) else after.partition("?")[0])
    return sorted({part for part in found if part}, key=len, reverse=True)


def check_not_mistyped(target: str) -> None:
    """Raise StorageError if a path is rather a mistyped URL with a password, which messages about a missing file would show."""
    if typed_passwords([target]):
        raise StorageError(_NO_URL)


def typed_passwords(arguments: Iterable[str]) -> list[str]:
    """Return the passwords in a command's arguments; of files that exist, none."""
    return [password for argument in arguments if not _exists(argument) for password in written_passwords(argument)]


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except OSError:  # too long a name, for example
        return False


def file_of(url: URL) -> Path | None:
    """Return the file of an SQLite URL, or None for a database in memory or on a server."""
    if url.get_backend_name() != "sqlite" or url.database in (None, "", ":memory:"):
        return None
    name = str(url.database)
    return Path(unquote(name.removeprefix("file:")) if "uri" in url.query else name)
