"""A session database in google-adk's present layout, written row by row, so that a test can store anything."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

START = 1_790_000_000.0
_TABLES = """
CREATE TABLE adk_internal_metadata (key VARCHAR(128) PRIMARY KEY, value VARCHAR(256) NOT NULL);
INSERT INTO adk_internal_metadata VALUES ('schema_version', '1');
CREATE TABLE sessions (app_name VARCHAR(128), user_id VARCHAR(128), id VARCHAR(128), state TEXT, create_time DATETIME, update_time DATETIME,
  PRIMARY KEY (app_name, user_id, id));
CREATE TABLE app_states (app_name VARCHAR(128) PRIMARY KEY, state TEXT, update_time DATETIME);
CREATE TABLE user_states (app_name VARCHAR(128), user_id VARCHAR(128), state TEXT, update_time DATETIME, PRIMARY KEY (app_name, user_id));
CREATE TABLE events (id VARCHAR(128), app_name VARCHAR(128), user_id VARCHAR(128), session_id VARCHAR(128), invocation_id VARCHAR(256),
  timestamp DATETIME, event_data TEXT);
"""


def write_v1(file: Path, events: list[dict[str, Any]], *, state: dict[str, Any] | None = None, session: str = "s") -> Path:
    """Store a session whose events and state are given.

    Args:
        file: the new file.
        events: each is an event's JSON; `id`, `invocation_id`, `author`, `timestamp` and `actions` have defaults. `column` is the time of
            the column, epoch seconds; default: the event's own.
        state: the stored state with prefixes; default: what the deltas give.
    """
    folded: dict[str, Any] = {}
    rows = []
    for number, event in enumerate(events):
        event = {"id": f"e{number}", "invocation_id": "i", "author": "agent", "timestamp": START + number, **event}
        column = text_of(event.pop("column", event["timestamp"]))
        actions = {"state_delta": {}, "artifact_delta": {}, "requested_auth_configs": {}, "requested_tool_confirmations": {}}
        event["actions"] = {**actions, **event.get("actions", {})}
        folded.update(event["actions"]["state_delta"])
        rows.append((event["id"], "app", "user", session, event["invocation_id"], column, json.dumps(event)))
    state = folded if state is None else state
    scopes = {scope: {} for scope in ("", "user:", "app:")}
    for key, value in state.items():
        scope = next((prefix for prefix in ("user:", "app:") if key.startswith(prefix)), "")
        scopes[scope][key.removeprefix(scope)] = value
    times = text_of(START - 1), text_of(START + len(events))
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.executescript(_TABLES)
        connection.execute("INSERT INTO sessions VALUES ('app', 'user', ?, ?, ?, ?)", (session, json.dumps(scopes[""]), *times))
        connection.execute("INSERT INTO app_states VALUES ('app', ?, ?)", (json.dumps(scopes["app:"]), times[1]))
        connection.execute("INSERT INTO user_states VALUES ('app', 'user', ?, ?)", (json.dumps(scopes["user:"]), times[1]))
        connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    connection.close()
    return file


def text_of(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).isoformat(" ", "microseconds")


def said(text: str, author: str = "agent", **more: Any) -> dict[str, Any]:
    return {"author": author, "content": {"role": "user" if author == "user" else "model", "parts": [{"text": text}]}, **more}


def called(name: str, call_id: str | None, **more: Any) -> dict[str, Any]:
    call = {"name": name, "args": {}, **({} if call_id is None else {"id": call_id})}
    return {"content": {"role": "model", "parts": [{"function_call": call}]}, **more}


def returned(name: str, call_id: str, **more: Any) -> dict[str, Any]:
    return {"content": {"role": "user", "parts": [{"function_response": {"id": call_id, "name": name, "response": {"ok": 1}}}]}, **more}


def wrote(delta: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"actions": {"state_delta": delta}, **more}
