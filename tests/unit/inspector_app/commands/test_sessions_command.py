"""`sessions`, sorted and chosen by what is known of each session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

from inspector_app.cli import main
from inspector_app.commands.parameters import SESSION_ORDERS
from inspector_app.presentation.session_figures import ORDERS
from runtime.events import Event
from runtime.sessions import DatabaseSessionService
from tests.unit.inspector_app.analysis import v1_file

START = 1_790_000_000.0


def said(author: str, what: str | types.Part, at: float, tokens: int = 0, **more: Any) -> Event:
    usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=tokens, total_token_count=tokens) if tokens else None
    content = types.Content(role="model", parts=[types.Part(text=what) if isinstance(what, str) else what])
    return Event(author=author, invocation_id="i", timestamp=START + at, content=content, usage_metadata=usage, **more)


@pytest.fixture
async def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Three sessions: a cheap long one, a dear one with an error, and one of an unknown model that waits for an answer."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "200")
    asked = types.Part(function_call=types.FunctionCall(id="c", name="approve", args={}))
    plans = {
        "cheap": [said("user", "Banana", 0), said("me", "yes", 900, 1_000, model_version="gemini-2.5-flash")],
        "dear": [
            said("user", "apple", 1_000),
            said("me", "no", 1_001, 900_000, model_version="gemini-2.5-flash"),
            said("me", "", 1_002, error_code="429"),
        ],
        "odd": [
            said("user", "Cherry", 2_000),
            said("me", "hm", 2_010, 5, model_version="nobody-knows"),
            Event(
                author="me", invocation_id="i", timestamp=START + 2_020, content=types.Content(parts=[asked]), long_running_tool_ids={"c"}
            ),
        ],
    }
    async with DatabaseSessionService(f"sqlite:///{tmp_path / 's.db'}") as service:
        for name, events in plans.items():
            session = await service.create_session(app_name="shop", user_id="ann", session_id=name)
            for event in events:
                await service.append_event(session, event)
    return str(tmp_path / "s.db")


def listed(capsys: pytest.CaptureFixture[str], database: str, *options: str) -> list[dict[str, Any]]:
    assert main(["sessions", database, *options, "--json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize(
    ("order", "names"),
    [
        ("newest", ["odd", "dear", "cheap"]),
        ("title", ["dear", "cheap", "odd"]),
        ("events", ["dear", "odd", "cheap"]),
        ("tokens", ["dear", "cheap", "odd"]),
        ("cost", ["dear", "cheap", "odd"]),
        ("duration", ["cheap", "odd", "dear"]),
        ("errors", ["dear", "cheap", "odd"]),
        ("waiting", ["odd", "cheap", "dear"]),
    ],
)
def test_sessions_are_sorted(database: str, order: str, names: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert [one["id"] for one in listed(capsys, database, "--sort", order)] == names
    assert set(ORDERS) == set(SESSION_ORDERS)


@pytest.mark.parametrize(
    ("condition", "names"),
    [
        ("cost > 0.05 and errors > 0", ["dear"]),
        ("cost == null", ["odd"]),
        ("not (cost > 0.05)", ["cheap", "odd"]),
        ("waiting", ["odd"]),
        ('title contains "an" or title == "apple"', ["cheap", "dear"]),
        ('title ~ "^C"', ["odd"]),
        ("tokens in [5, 1000]", ["cheap", "odd"]),
        ("duration >= 900 and events = 2", ["cheap"]),
        ("age < 0", []),
    ],
)
def test_sessions_are_chosen(database: str, condition: str, names: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert [one["id"] for one in listed(capsys, database, "--where", condition)] == names


def test_what_orders_and_conditions_use_is_listed(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = listed(capsys, database, "--sort", "tokens", "--where", "errors > 0")
    assert (found["tokens"], found["errors"], "cost" in found) == (900_000, 1, False)
    assert main(["sessions", database, "--sort", "cost"]) == 0
    heading, first, *_, last = capsys.readouterr().out.splitlines()
    assert "COST" in heading and "$0.27" in first and "unknown" in last
    assert main(["sessions", database, "--where", "events > 99"]) == 0
    assert "No session matches." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("condition", "why"),
    [
        ('text == "x"', "there is no name `text`; the names are title"),
        ("costs > 1", "did you mean `cost`?"),
        ('cost > "x"', "`cost` is a number"),
        ("title.x", "has no fields"),
        ('state["x"] changed', "there is no name `state`"),
        ("", "expected a name, such as `title`"),
    ],
)
def test_a_condition_over_anything_else_is_refused(database: str, condition: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sessions", database, "--where", condition or " "]) == 2
    assert why in capsys.readouterr().err


@pytest.mark.parametrize("last", ["answered", "open"])
def test_earlier_messages_without_an_answer_are_counted_beside_the_newest_one(
    last: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)  # whole lines, as in a pipe
    messages = [{**v1_file.said(text, "user"), "invocation_id": text} for text in ("one", "two", "three")]
    answer = [{**v1_file.said("Hello."), "invocation_id": "three"}] if last == "answered" else []
    assert main(["sessions", str(v1_file.write_v1(tmp_path / "a.db", [*messages, *answer]))]) == 0
    earlier = "2 earlier messages without an answer"
    assert capsys.readouterr().out.rstrip().endswith(f"  {earlier}" if answer else f"  interrupted, {earlier}")
