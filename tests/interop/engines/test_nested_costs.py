"""`costs` and `events` of sessions with agents as tools: equal to what the models have charged."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from inspector_app.cli import main
from inspector_app.mcp_server.database_tools import database_tools
from inspector_app.mcp_server.places import Places
from inspector_app.mcp_server.reading_tools import reading_tools
from tests.interop.engines.conftest import EMBEDDED, IN_PROCESS, PYTHONS
from tests.interop.engines.test_inner_runs import DEEP, MIDDLE, NEST, WEATHER, charged

MANY = [["middle", {"request": MIDDLE}], ["middle", {"request": MIDDLE}], ["ask_deep", {"request": DEEP}]]
TURNS = (
    [MANY, [["plain", {"request": "x"}]], "Done."],
    [[["middle", {"request": json.dumps([WEATHER, {"fail": "unplugged"}])}]], "After the failure."],
)


def run_turns(engine: str, database: Path, turns: Any = TURNS) -> None:
    """Run each turn in the session `s`."""
    where = ["--engine", {EMBEDDED: "embedded-process", IN_PROCESS: "embedded"}.get(engine, "adk")]
    if where[1] == "adk":
        where += ["--python", PYTHONS[engine]()]
    (NEST / "charged.jsonl").write_text("")
    for turn in turns:
        main(["run", str(NEST), "--message", json.dumps(turn), "--db", str(database), "--session", "s", "--json", *where])


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """Return the JSON of a command."""
    capsys.readouterr()
    assert main([*arguments, "--json"]) == 0
    found = capsys.readouterr().out
    return [json.loads(line) for line in found.splitlines()] if arguments[0] == "events" else json.loads(found)


def complaints(capsys: pytest.CaptureFixture[str], database: Path) -> str:
    """Return what `costs` writes beside its table."""
    capsys.readouterr()
    assert main(["costs", str(database)]) == 0
    return capsys.readouterr().err


def tokens(group: dict[str, Any]) -> int:
    return int(group["input_tokens"]) + int(group["output_tokens"])


@pytest.mark.parametrize("engine", ["2.13", "1.39", EMBEDDED, IN_PROCESS])
def test_costs_are_what_the_models_charged(engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = tmp_path / "all.db"
    run_turns(engine, database)
    expected = charged()
    for by in ("model", "session", "agent", "invocation", "call"):
        found = answer(capsys, "costs", str(database), "--by", by)
        assert tokens(found["total"]) == sum(map(tokens, found["groups"])) == expected.total(), by
        assert (found["total"]["nested_calls"], found["total"]["agents_not_recorded"]) == (2 * 4 + 2 + 1 + 0, 0)
    by_model = {group["model"]: tokens(group) for group in answer(capsys, "costs", str(database), "--by", "model")["groups"]}
    assert by_model == dict(expected)
    (session,) = answer(capsys, "sessions", str(database), "--where", "tokens > 0")
    assert session["tokens"] == expected.total()
    rows = answer(capsys, "events", str(database), "--session", "s", "--nested")
    nested = [row for row in rows if "nested" in row]
    assert {row["author"] for row in nested} == {"middle", "deep"} and {len(row["nested"]) for row in nested} == {1, 2}
    usage = [row["usage_metadata"]["total_token_count"] for row in rows if "usage_metadata" in row]
    assert sum(usage) == expected.total()
    plain = answer(capsys, "events", str(database), "--session", "s")
    assert plain == [row for row in rows if "nested" not in row]
    assert "not recorded" not in complaints(capsys, database)
    assert main(["costs", str(database)]) == 0 and "NESTED" in capsys.readouterr().out


def test_mcp_answers_have_what_agents_as_tools_did(tmp_path: Path) -> None:
    database = tmp_path / "all.db"
    run_turns(IN_PROCESS, database, ([[["middle", {"request": MIDDLE}]], "Done."],))

    def ask(name: str, **given: Any) -> Any:
        places = Places([str(database)])
        tool = next(tool for tool in (*reading_tools(places), *database_tools(places)) if tool.name == name)
        return asyncio.run(tool.answer({parameter: given.get(parameter) for parameter in tool.parameters}))

    rows = ask("what_happened")["events"]
    assert [row.get("nested") for row in rows] == [None, None, 1, 2, 2, 2, 1, 1, None, None]
    deep = ask("what_happened", where="author == 'deep'")["events"]
    assert [(row["nested"], row["author"]) for row in deep] == [(2, "deep")] * 3
    whole = ask("what_happened", event=deep[0]["id"])
    assert whole["nested"] is True and "weather" in json.dumps(whole)
    assert ask("what_was_the_model_asked", event=deep[0]["id"])["model"] == "model-of-deep"
    cost = ask("what_did_it_cost")["total"]
    assert tokens(cost) == charged().total() and cost["nested_calls"] == 4


@pytest.mark.parametrize("engine", ["2.13", IN_PROCESS])
def test_what_is_missing_is_named(engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = tmp_path / "all.db"
    run_turns(engine, database, ([[["middle", {"request": MIDDLE}], ["ask_deep", {"request": DEEP}]], "Done."],))
    (tmp_path / "all.rec.db").unlink()
    found = answer(capsys, "costs", str(database))
    assert found["total"]["agents_not_recorded"] == 2 and tokens(found["total"]) < charged().total()
    assert "without 2 agents as tools: not recorded" in complaints(capsys, database)


@pytest.mark.parametrize("engine", ["2.13", "1.39"])
def test_an_agent_without_plugins_is_named(engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = tmp_path / "all.db"
    run_turns(engine, database, ([[["hidden", {"request": DEEP}], ["plain", {"request": "x"}]], "Done."],))
    found = answer(capsys, "costs", str(database))
    assert found["total"]["agents_not_recorded"] == 1 and "without 1 agent as a tool: not recorded" in complaints(capsys, database)
    assert main(["events", str(database), "--nested"]) == 0 and "not recorded" in capsys.readouterr().out


@pytest.mark.parametrize("engine", ["2.13", IN_PROCESS])
def test_an_agent_within_the_session_is_not_missing(engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = tmp_path / "all.db"
    run_turns(engine, database, ([[["inline", {"request": DEEP}]], "Done."],))
    found = answer(capsys, "costs", str(database))
    assert (tokens(found["total"]), found["total"]["agents_not_recorded"]) == (charged().total(), 0)
    if engine == "2.13":
        (tmp_path / "all.rec.db").unlink()
        assert answer(capsys, "costs", str(database)) == found
