"""Special handling of databases on a PostgreSQL server."""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal
from typing import Any

from runtime.errors.missing_package_error import install_command
from runtime.errors.storage_error import StorageError
from runtime.errors.unstorable_value_error import UnstorableValueError
from runtime.storage.layouts.statements import DriverConnection

_LOCK_TIMEOUT = "30s"
_OUR_TABLES = re.compile(r"sessions|events|app_states|user_states|adk_internal_metadata|inspector_\w+")
CHECKPOINT_TABLES = re.compile(r"checkpoints|checkpoint_blobs|checkpoint_writes")  # LangGraph's
_MAY_CHANGE = re.compile(r"\\u0000|\d[eE]\+?\d|-0\.0")


def no_driver() -> StorageError:
    """Return the error for a missing driver of PostgreSQL."""
    return StorageError(f"PostgreSQL needs a driver that is not installed: {install_command(extra='postgres')}")


def set_up_server(connection: Any, _record: object) -> None:
    """Set up a new connection: JSON is returned as text, waiting for a lock times out, and times are UTC."""
    from psycopg.types.string import TextLoader

    for name in ("json", "jsonb"):
        connection.adapters.register_loader(name, TextLoader)
    autocommit = connection.autocommit
    connection.autocommit = True
    connection.execute(f"SET lock_timeout = '{_LOCK_TIMEOUT}'")
    connection.execute("SET timezone = 'UTC'")
    connection.autocommit = autocommit


def server_tables(connection: DriverConnection, names: re.Pattern[str] = _OUR_TABLES) -> dict[str, dict[str, str]]:
    """Return the tables that may belong to a session database: name → column name → type. Other tables are ignored.

    Args:
        connection: a connection to the server.
        names: the names of the tables, if they are others.
    """
    rows = connection.execute(
        "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = current_schema()"
        " ORDER BY table_name, ordinal_position"
    )
    tables: dict[str, dict[str, str]] = {}
    for table, column, kind in rows:
        if names.fullmatch(table):
            tables.setdefault(table, {})[column] = str(kind).upper()
    return tables


def check_jsonb(text: str, path: str) -> None:
    """Refuse JSON that jsonb, google-adk's column type, would change.

    Args:
        text: JSON.
        path: the value's name in the error.

    Raises:
        UnstorableValueError: the JSON has a text with a NUL character, or a number that changes its value in jsonb.
    """
    if not _MAY_CHANGE.search(text):
        return
    _check(json.loads(text), path)


def _check(value: Any, path: str) -> None:
    if isinstance(value, dict):
        for key, item in value.items():
            _check(key, path)
            _check(item, f"{path}[{key!r}]")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _check(item, f"{path}[{index}]")
    elif isinstance(value, str) and "\0" in value:
        raise UnstorableValueError(path, "PostgreSQL's jsonb cannot store the NUL character")
    elif isinstance(value, float) and math.isfinite(value):
        written = json.loads(format(Decimal(repr(value)), "f"))
        if written != value or (value == 0 and math.copysign(1, value) < 0):
            raise UnstorableValueError(path, f"PostgreSQL's jsonb changes {value!r}")
