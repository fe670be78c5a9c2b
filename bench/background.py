"""Measure what the window reads of a long session in the background: `python -m bench.background DATABASE`.

It prints a JSON object with processor seconds: a plain scan and decoding of all rows, as limits, and each reading the first and the
second time. The caches are in a temporary folder.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing

import msgspec

from bench.generated import APP, SESSION, USER
from inspector_app.documents.long_session import LongSession
from inspector_app.support.data_folder import cache_folder
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.reading.search_index import SearchIndex

_KEY = SessionKey(APP, USER, SESSION)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.background")
    parser.add_argument("database", help="made by bench/generated.py")
    database = parser.parse_args().database
    with tempfile.TemporaryDirectory() as caches:
        os.environ["XDG_CACHE_HOME"] = caches
        sys.stdout.write(json.dumps(_measured(database)) + "\n")


def _measured(database: str) -> dict[str, float]:
    found = {"scan": _seconds(lambda: _scan(database)), "decode": _seconds(lambda: _decode(database))}
    for name, work in (("pending", _pending), ("failures", _failures), ("search", _search)):
        for time_of in ("first", "second"):
            found[f"{name}, {time_of}"] = _seconds(lambda work=work: work(database))  # type: ignore[misc]
    for time_of in ("first", "second"):
        found[f"all, {time_of}"] = sum(found[f"{name}, {time_of}"] for name in ("pending", "failures", "search"))
    return found


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _scan(database: str) -> None:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        connection.execute("SELECT sum(length(event_data)) FROM events").fetchall()


def _decode(database: str) -> None:
    decode = msgspec.json.Decoder().decode
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        for (data,) in connection.execute("SELECT event_data FROM events"):
            decode(data)


def _pending(database: str) -> None:
    with StoredDatabase.open(database) as stored:
        stored.pending(cache=cache_folder() / "pending")


def _failures(database: str) -> None:
    asyncio.run(_find_failures(database))


async def _find_failures(database: str) -> None:
    session = LongSession(database, _KEY)
    await session.open(lambda: None)
    await session.latest_invocations()
    async for _ in session.find_failures():
        pass
    session.close()


def _search(database: str) -> None:
    with closing(SearchIndex(database, cache_folder() / "search")) as index:
        index.update(lambda done, of: True)


if __name__ == "__main__":
    main()
