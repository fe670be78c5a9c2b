"""A plain event says the same as the event that google-genai's types make of it, in every fixture database."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from inspector_app.presentation.event_summary import describe
from inspector_app.presentation.strict_json import event_json
from runtime.events.plain_event import PlainEvent, plain_event
from runtime.history.invocations import invocations
from runtime.storage.reading.reader import StoredDatabase
from tests.end2end.processes import ROOT, environment
from tests.fixture_paths import fixtures_dir, manifest
from tests.sweep import count

SMALL = [str(file) for file in sorted((ROOT / "tests" / "data").glob("*.db"))]


def check(database: StoredDatabase) -> int:
    """Compare all events of a database; return the number of plain ones."""
    plain = 0
    for summary in database.sessions():
        whole = database.events(summary.key)
        read = [*database.plain_events(summary.key)]
        assert [event.id for event in read] == [event.id for event in whole]
        for one, other in zip(read, whole, strict=True):
            assert json.loads(event_json(one)) == json.loads(event_json(other))
            assert describe(one) == describe(other)
            assert one.is_final_response() == other.is_final_response()
        assert invocations(read) == invocations(whole)
        assert [event.id for event in database.newest_events(summary.key, 3)] == [event.id for event in whole[-3:]]
        plain += sum(isinstance(event, PlainEvent) for event in read)
    return plain


@pytest.mark.parametrize("file", SMALL, ids=[Path(file).stem for file in SMALL])
def test_plain_events_of_every_layout(file: str) -> None:
    with StoredDatabase.open(file) as database:
        assert (check(database) > 0) == database.layout.format.is_json


@pytest.mark.sweep
def test_plain_events_of_all_fixtures() -> None:
    folder, plain = fixtures_dir() / "open", 0
    for entry in manifest()[:: count(quick=4, full=1)]:
        with StoredDatabase.open(str(folder / entry["file"])) as database:
            plain += check(database)
    assert plain > 100


@pytest.mark.parametrize(
    "unusual",
    [
        {"author": None},
        {"branch": None},
        {"customMetadata": {}},
        {"grounding_metadata": {}},
        {"actions": {"compaction": {}}},
        {"actions": {"requested_auth_configs": {"a": {}}}},
        {"content": {"parts": [{"inline_data": {"data": "aGk="}}]}},
        {"content": {"parts": [{"function_call": {"name": "f", "args": []}}]}},
        {"usage_metadata": {"total_token_count": None}},
        {"usage_metadata": {"totalTokenCount": 3}},
        {"long_running_tool_ids": [1]},
    ],
)
def test_unusual_events_are_left_to_the_types(unusual: dict[str, object]) -> None:
    usual = {"id": "e", "invocation_id": "i", "author": "a", "timestamp": 1.5}
    assert plain_event(dict(usual)) is not None
    assert plain_event({**usual, **unusual}) is None
    assert plain_event([]) is None


@pytest.mark.parametrize(
    "arguments",
    ["sessions", "events", "events --json", "events --last 2", "state", "invocations", "events --where error", "events --where call.pay"],
)
@pytest.mark.parametrize("file", ["ours.db", "v1.db", "sqlite.db"])
def test_reading_commands_load_neither_agents_nor_google_genai(arguments: str, file: str) -> None:
    heavy = (
        "google.genai",
        "pydantic",
        "sqlalchemy",
        "rich",
        "runtime.agents",
        "runtime.models",
        "runtime.events.event",
        "PySide6",
        "psutil",
        "importlib.metadata",
        *(["pydantic_core"] if arguments.startswith(("sessions", "events")) else []),
    )
    code = (
        "import sys; from inspector_app.cli import main; status = main(sys.argv[1:]);"
        f" sys.stderr.write(repr((status, [name for name in {heavy} if name in sys.modules])))"
    )
    name, *options = arguments.split()
    command = [sys.executable, "-c", code, name, str(ROOT / "tests" / "data" / file), *options]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=60)
    assert done.stderr.splitlines()[-1].endswith("(0, [])"), done.stderr
