"""`agent-inspector costs`: groups, formats, recordings beside the database, and no network."""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from google.genai import types

from inspector_app.cli import main
from runtime.events.event import Event
from runtime.models.llm_request import LlmRequest
from runtime.sessions import DatabaseSessionService
from tests.recorder import load_recorder

recorder = load_recorder()


def answer(event_id: str, author: str, model: str | None, *tools: str) -> Event:
    parts = [types.Part(function_call=types.FunctionCall(name=name, args={})) for name in tools] or [types.Part(text="done")]
    event = Event(id=event_id, author=author, invocation_id="i", content=types.Content(role="model", parts=parts))
    event.model_version = model
    event.usage_metadata = types.GenerateContentResponseUsageMetadata(
        prompt_token_count=1000, candidates_token_count=100, cached_content_token_count=200
    )
    return event


SESSIONS = {
    "first": [answer("e1", "seer", "gemini-2.5-flash", "look", "go"), answer("e2", "guide", "gemini-2.5-flash", "look")],
    "second": [answer("e3", "seer", "my-own-model")],
}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    file = tmp_path / "orders.db"

    async def write() -> None:
        service = DatabaseSessionService(f"sqlite:///{file}")
        for name, events in SESSIONS.items():
            session = await service.create_session(app_name="app", user_id="u", session_id=name)
            for event in events:
                await service.append_event(session, event.model_copy(deep=True))
        await service.close()

    asyncio.run(write())
    return file


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> NoReturn:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    capsys.readouterr()
    assert main(["costs", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_sessions_are_summed(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = output(capsys, str(database))
    assert (found["by"], found["prices"].split()[0]) == ("session", "genai-prices")
    first, second = found["groups"]
    assert (first["session"], first["app_name"], first["user_id"], first["calls"]) == ("first", "app", "u", 2)
    assert (first["input_tokens"], first["cached_tokens"], first["output_tokens"]) == (2000, 400, 200)
    assert first["cost_usd"] > 0 and first["calls_without_price"] == 0
    assert (second["cost_usd"], second["calls_without_price"]) == (None, 1)
    assert (found["total"]["cost_usd"], found["total"]["calls"]) == (first["cost_usd"], 3)


@pytest.mark.parametrize(
    ("by", "names"),
    [
        ("agent", ["seer", "guide"]),
        ("model", ["gemini-2.5-flash", "my-own-model"]),
        ("tool", ["look", "go", "(no tool)"]),
        ("invocation", ["i"]),
        ("call", ["e1", "e2", "e3"]),
    ],
)
def test_calls_can_be_grouped(database: Path, capsys: pytest.CaptureFixture[str], by: str, names: list[str]) -> None:
    assert [group[by] for group in output(capsys, str(database), "--by", by)["groups"]] == names


def test_one_session_is_grouped_by_agent(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = output(capsys, str(database), "--session", "fir")
    assert (found["by"], [group["agent"] for group in found["groups"]]) == ("agent", ["seer", "guide"])


def test_a_table_says_what_is_unknown(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["costs", str(database)]) == 0
    shown = capsys.readouterr()
    head, first, second, total = shown.out.splitlines()
    assert head.split() == ["APP", "USER", "SESSION", "CALLS", "INPUT", "CACHED", "OUTPUT", "COST"]
    assert first.split()[-1].startswith("$0.00") and second.split()[-1] == "unknown" and total.endswith("+ unknown")
    assert "Prices are from genai-prices" in shown.err
    assert "my-own-model" in shown.err and "--price my-own-model=INPUT,OUTPUT" in shown.err


def test_own_prices_and_models(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = output(capsys, str(database), "--session", "second", "--price", "my-own-model=1,10,0.5")
    assert found["total"]["cost_usd"] == pytest.approx((800 + 200 * 0.5 + 100 * 10) / 1e6)


@pytest.mark.parametrize("price", ["1,2", "m=", "m=1", "m=1,x", "m=1,2,3,4", "m=-1,2", "=1,2", "m=nan,1"])
def test_a_wrong_price_is_a_clear_error(database: Path, capsys: pytest.CaptureFixture[str], price: str) -> None:
    assert main(["costs", str(database), "--price", price]) == 2
    assert "is not a price such as" in " ".join(capsys.readouterr().err.split())


def test_the_recording_beside_a_database_names_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "plain.db"

    async def write() -> None:
        service = DatabaseSessionService(f"sqlite:///{file}")
        session = await service.create_session(app_name="app", user_id="u", session_id="s")
        for name in ("e1", "e2"):
            await service.append_event(session, answer(name, "seer", None))
        await service.close()

    asyncio.run(write())
    writer = recorder.Recording(tmp_path / "plain.rec.db")
    call = recorder.ModelCall(("app", "u", "s"), "i", None, SimpleNamespace(name="seer"), LlmRequest(model="gemini-2.5-flash"))
    call.read_request()
    call.event_id = "e1"
    writer.add_model_call(call)
    writer.close()
    assert [group["model"] for group in output(capsys, str(file), "--by", "model")["groups"]] == ["gemini-2.5-flash", "(not named)"]
    named = output(capsys, str(file), "--by", "model", "--model", "gpt-4o")
    assert [group["model"] for group in named["groups"]] == ["gemini-2.5-flash", "gpt-4o"]
    (tmp_path / "plain.rec.db").write_bytes(b"damaged" * 500)
    assert main(["costs", str(file)]) == 0
    assert "plain.rec.db" in capsys.readouterr().err


def test_a_session_without_tokens_has_no_costs(capsys: pytest.CaptureFixture[str]) -> None:
    file = Path(__file__).parents[3] / "data" / "ours.db"
    assert main(["costs", str(file)]) in (0,)
    shown = capsys.readouterr()
    assert shown.out or "No event reports tokens." in shown.err
