"""States of a database file."""

from __future__ import annotations

from pathlib import Path

from tests.unit.storage.tail.sql_writer import SqlWriter


def put_into(state: str, file: Path) -> SqlWriter | None:
    """Bring a file into a state, and return the writer if it is still running."""
    file.chmod(0o644)
    if state in ("cold", "read-only folder"):
        file.parent.chmod(0o555 if state == "read-only folder" else 0o755)
        return None
    writer = SqlWriter(file, "wal" if "wal" in state else "delete")
    if state == "cold wal":
        writer.close()
        return None
    if state in ("hot journal", "live in a transaction"):
        writer.run("PRAGMA cache_size = 1")
        writer.run("BEGIN IMMEDIATE")
    writer.run("UPDATE sessions SET state = '{\"written\": 1}'")
    if state == "hot journal":
        writer.run("UPDATE events SET invocation_id = invocation_id || hex(zeroblob(20000))")
    if state.startswith("hot"):
        writer.kill()
        return None
    return writer
