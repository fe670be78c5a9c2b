"""A database on a PostgreSQL server with as many events as a busy team's, made by the server itself."""

from __future__ import annotations

import asyncio

import psycopg
import psycopg.conninfo

from runtime.sessions import DatabaseSessionService, SessionKey
from runtime.storage.layouts.table_names import COMMITS
from tests.postgres import server
from tests.sweep import count

EVENTS = count(50_000, 10_000_000)
EACH = 100  # events of a session
FEW = EVENTS * 9 // 10  # the long session has the others
LONG = SessionKey("shop", "ana", "long")
SHORT = SessionKey("shop", "user-7", "s-7")
# One event in a thousand writes a shared key. One in ten has no record, as if google-adk had appended it.
_EVENTS = """
INSERT INTO events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data)
SELECT 'e-' || n, 'shop', {user}, {session}, 'i-' || n / 10, timestamp '2026-01-01' + n * interval '1 second',
  json_build_object('id', 'e-' || n, 'author', 'clerk', 'invocation_id', 'i-' || n / 10, 'timestamp', 1767225600 + n,
    'content', json_build_object('role', 'model', 'parts', json_build_array(json_build_object('text', 'order ' || n))),
    'actions', json_build_object('state_delta', CASE WHEN n % 1000 = 0 THEN json_build_object('user:plan', n)
      ELSE json_build_object('step', n) END))
FROM generate_series({first}, {last}) AS n
"""
_SESSIONS = """
INSERT INTO sessions (app_name, user_id, id, state, create_time, update_time)
SELECT 'shop', 'user-' || n, 's-' || n, '{}', timestamp '2026-01-01', timestamp '2026-01-01' + n * interval '1 second'
FROM generate_series(0, %s) AS n
"""
_CREATIONS = f"""
INSERT INTO {COMMITS} (app_name, user_id, session_id, at, writer, baseline)
SELECT app_name, user_id, id, extract(epoch FROM create_time) * 1000000, 'test', '{{}}' FROM sessions WHERE id <> 'long'
"""
_COMMITS = f"""
INSERT INTO {COMMITS} (app_name, user_id, session_id, event_id, at, writer, shared)
SELECT app_name, user_id, session_id, id, extract(epoch FROM timestamp) * 1000000, 'test',
  CASE WHEN CAST(event_data AS text) LIKE '%"user:%' THEN event_data -> 'actions' ->> 'state_delta' END
FROM events WHERE right(id, 1) <> '9' ORDER BY timestamp
"""


def make() -> str:
    """Return the URL of a new database of ours with `EVENTS` events."""
    url = server().new_database()

    async def use(session_id: str) -> None:
        async with DatabaseSessionService(url) as service:
            await service.create_session(app_name="shop", user_id="ana", session_id=session_id)

    asyncio.run(use(LONG.session_id))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET synchronous_commit = off")
        connection.execute(_SESSIONS.replace("%s", str(FEW // EACH - 1)).encode())
        parts = "'user-' || n / {each}", "'s-' || n / {each}"
        for user, session, first, last in ((*parts, 0, FEW - 1), ("'ana'", "'long'", FEW, EVENTS - 1)):
            connection.execute(
                _EVENTS.format(user=user.format(each=EACH), session=session.format(each=EACH), first=first, last=last).encode()
            )
        connection.execute(_CREATIONS.encode())
        connection.execute(_COMMITS.encode())
        connection.execute("VACUUM ANALYZE")
    asyncio.run(use("later"))
    return url


def copy_as_google_adk_makes_it(url: str) -> str:
    """Return the URL of a copy without our tables and indexes."""
    copied = server().new_database()
    drop(copied)
    server().run(f'CREATE DATABASE "{_name(copied)}" TEMPLATE "{_name(url)}"')
    with psycopg.connect(copied, autocommit=True) as connection:
        for (table,) in connection.execute("SELECT tablename FROM pg_tables WHERE tablename LIKE 'inspector_%'").fetchall():
            connection.execute(f"DROP TABLE {table}".encode())
        for (index,) in connection.execute("SELECT indexname FROM pg_indexes WHERE indexname LIKE 'inspector_%'").fetchall():
            connection.execute(f"DROP INDEX {index}".encode())
    return copied


def drop(url: str) -> None:
    """Remove the database."""
    server().run(f'DROP DATABASE "{_name(url)}" WITH (FORCE)')


def _name(url: str) -> str:
    return str(psycopg.conninfo.conninfo_to_dict(url)["dbname"])
