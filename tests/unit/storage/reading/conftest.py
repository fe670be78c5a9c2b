"""Each test closes the databases it opened: since Python 3.13, a connection that is collected open is reported, in any later test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from runtime.storage.reading.reader import StoredDatabase


@pytest.fixture(autouse=True)
def closed_databases(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close what was opened during the test."""
    opened: list[StoredDatabase] = []
    real = StoredDatabase.open

    def open_database(*args: Any, **options: Any) -> StoredDatabase:
        opened.append(real(*args, **options))
        return opened[-1]

    monkeypatch.setattr(StoredDatabase, "open", open_database)
    yield
    for database in opened:
        database.close()
