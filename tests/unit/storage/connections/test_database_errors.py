"""Sentences for the errors of a database driver."""

from __future__ import annotations

import sqlite3

import pytest

from runtime.storage.connections.database_errors import storage_error


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (sqlite3.SQLITE_FULL, "The disk that holds x.db is full."),
        (sqlite3.SQLITE_IOERR_SHMSIZE, "The disk that holds x.db is full."),
        (sqlite3.SQLITE_IOERR_READ, "The system reported an error when reading or writing x.db."),
        (sqlite3.SQLITE_CANTOPEN_ISDIR, "x.db cannot be opened."),
    ],
)
def test_an_error_says_what_happened(code: int, words: str) -> None:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = code
    assert str(storage_error(error, "x.db")).startswith(words)
