"""Session databases of any length, as google-adk's DatabaseSessionService writes them (layout v1)."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from runtime.events.event import Event
from runtime.storage.connections.open_files import open_files

APP, USER, SESSION = "order_desk", "maria", "s-1"
START = 1_795_000_000.0
PER_INVOCATION = 10
_AUTHORS = ("order_desk", "pricing", "stock", "shipping")
_WORDS = "boxes of paper by Friday with a discount for the twelve orders this year and express shipping to Porto".split()  # noqa: SIM905
_SCHEMA = """
CREATE TABLE adk_internal_metadata (key VARCHAR(128) NOT NULL, value VARCHAR(256) NOT NULL, PRIMARY KEY (key));
CREATE TABLE sessions (app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, id VARCHAR(128) NOT NULL, state TEXT NOT NULL,
  create_time DATETIME NOT NULL, update_time DATETIME NOT NULL, PRIMARY KEY (app_name, user_id, id));
CREATE TABLE app_states (app_name VARCHAR(128) NOT NULL, state TEXT NOT NULL, update_time DATETIME NOT NULL, PRIMARY KEY (app_name));
CREATE TABLE user_states (app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, state TEXT NOT NULL,
  update_time DATETIME NOT NULL, PRIMARY KEY (app_name, user_id));
CREATE TABLE events (id VARCHAR(128) NOT NULL, app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL,
  session_id VARCHAR(128) NOT NULL, invocation_id VARCHAR(256) NOT NULL, timestamp DATETIME NOT NULL, event_data TEXT,
  PRIMARY KEY (id, app_name, user_id, session_id),
  FOREIGN KEY(app_name, user_id, session_id) REFERENCES sessions (app_name, user_id, id) ON DELETE CASCADE);
CREATE INDEX idx_events_app_user_session_ts_id ON events (app_name, user_id, session_id, timestamp DESC, id DESC);
INSERT INTO adk_internal_metadata VALUES ('schema_version', '1');
"""


def write_database(file: Path, count: int) -> None:
    """Write one session of `count` events: median 700 bytes of JSON, three state keys each, ten events an invocation.

    Args:
        file: must not exist.
        count: how many.
    """
    connection = sqlite3.connect(file)
    connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + _SCHEMA)
    now = _time(START + count)
    state = json.dumps(_delta(count - 1))
    connection.execute("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?)", (APP, USER, SESSION, state, _time(START), now))
    connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", _rows(0, count))
    connection.commit()
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()


def add_events(connection: sqlite3.Connection, first: int, end: int) -> None:
    """Commit more events to a session of `write_database`.

    Args:
        connection: to the file.
        first, end: their places: how many there are, and how many there are to be.
    """
    connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", _rows(first, end))
    connection.execute("UPDATE sessions SET state = ?, update_time = ?", (json.dumps(_delta(end - 1)), _time(START + end)))
    connection.commit()


class LiveWriter:
    """Commits many events per second to a session of `write_database`: ten per invocation, copies that share their contents.

    Args:
        file: of the session.
    """

    def __init__(self, file: str) -> None:
        # Used by one thread at a time, with the write-ahead log of a run in the window, so readers do not block it.
        self._connection = open_files.connect(file, timeout=30)
        self._connection.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;")
        # Joined from pieces, because the window is measured, not JSON.
        self._turns = [_Turn(event_data(number)) for number in range(PER_INVOCATION)]

    def commit(self, first: int, count: int) -> list[Event]:
        """Commit events and return them.

        Args:
            first: how many there have been.
            count: how many.
        """
        self.store(first, count)
        return [self._turns[number % PER_INVOCATION].event(number) for number in range(first, first + count)]

    def store(self, first: int, count: int) -> list[tuple[str, str]]:
        """Commit events and return their ids and JSON.

        Args:
            first: how many there have been.
            count: how many.
        """
        made = [self._turns[number % PER_INVOCATION].stored(number) for number in range(first, first + count)]
        self._connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", made)
        self._connection.commit()
        return [(row[0], row[-1]) for row in made]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


class _Turn:
    """One of an invocation's events, to be copied."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._model = Event.model_validate(data)
        self._time = _time(data["timestamp"])
        self._json = json.dumps({**data, "invocation_id": "%(of)s", "id": "%(name)s"})

    def event(self, number: int) -> Event:
        """Return a copy."""
        name, of = _names(number)
        return self._model.model_copy(update={"id": name, "invocation_id": of})

    def stored(self, number: int) -> tuple[str, ...]:
        """Return the row of a copy."""
        name, of = _names(number)
        return name, APP, USER, SESSION, of, self._time, self._json % {"name": name, "of": of}


def _names(number: int) -> tuple[str, str]:
    return f"live-{number}", f"live-{number // PER_INVOCATION}"


def write_many_sessions(file: Path, sessions: int, each: int, text_bytes: int) -> None:
    """Write many sessions of a few events with long texts, like a busy server.

    Args:
        file: must not exist.
        sessions: how many.
        each: events of a session.
        text_bytes: of an event, about.
    """
    connection = sqlite3.connect(file)
    connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + _SCHEMA)
    chance = random.Random(1)
    texts = [_words(chance, text_bytes // 6) for _ in range(50)]
    for number in range(sessions):
        user, session, start = f"user{number % 500}", f"s-{number:07}", START + number * 60
        connection.execute("INSERT INTO sessions VALUES (?, ?, ?, '{}', ?, ?)", (APP, user, session, _time(start), _time(start + each)))
        rows = []
        for place in range(each):
            event_id = f"{number:07}-{place:03}"
            text = f"order {number * each + place} {texts[(number + place) % len(texts)]}"
            data = {
                "id": event_id,
                "author": APP,
                "invocation_id": "e-1",
                "timestamp": start + place,
                "actions": {"state_delta": {"n": place}},
            }
            content = json.dumps({**data, "content": {"role": "model", "parts": [{"text": text}]}})
            rows.append((event_id, APP, user, session, "e-1", _time(start + place), content))
        connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        if number % 10_000 == 0:
            connection.commit()
    connection.commit()
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()


def _rows(first: int, end: int) -> Iterator[tuple[str, ...]]:
    for number in range(first, end):
        data = event_data(number)
        yield data["id"], APP, USER, SESSION, data["invocation_id"], _time(data["timestamp"]), json.dumps(data)


def event_data(number: int) -> dict[str, Any]:
    """Return the JSON of the event at an index: messages, calls, results and answers in turn."""
    chance = random.Random(number)
    turn = number % PER_INVOCATION
    author = "user" if turn == 0 else _AUTHORS[chance.randrange(len(_AUTHORS))]
    call_id = f"call-{number - (turn + 1) % 2}"
    if turn == 0 or turn > 6:
        part: dict[str, Any] = {"text": " ".join(chance.choices(_WORDS, k=chance.randrange(30, 70)))}
    elif turn % 2:
        part = {"function_call": {"id": call_id, "name": "find_product", "args": {"name": _words(chance, 24), "quantity": turn}}}
    else:
        found = {"sku": f"PA4-{number % 97}", "price": 4.2, "text": _words(chance, 24)}
        part = {"function_response": {"id": call_id, "name": "find_product", "response": found}}
    return {
        "content": {"parts": [part], "role": "user" if turn == 0 else "model"},
        "usage_metadata": {"prompt_token_count": 180, "candidates_token_count": 40, "total_token_count": 220},
        "invocation_id": f"e-{random.Random(-1 - number // PER_INVOCATION).getrandbits(128):032x}",
        "author": author,
        "actions": {"state_delta": _delta(number), "artifact_delta": {}, "requested_auth_configs": {}},
        "id": f"{chance.getrandbits(128):032x}",
        "timestamp": START + number,
    }


def _delta(number: int) -> dict[str, Any]:
    return {"step": number, "total": number * 4.2, "cart": [{"sku": f"PA4-{number % 97}", "quantity": number % 40}]}


def _words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choices(_WORDS, k=count))


def _time(epoch: float) -> str:
    return datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
