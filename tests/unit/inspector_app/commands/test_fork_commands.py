"""`fork`, `forks`, `rewind`, `compare` and `state --writers`, from a script."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from inspector_app.cli import main
from tests.agent_folders import write_agent
from tests.end2end.processes import ORDERS
from tests.fixture_paths import copy_of
from tests.unit.inspector_app.main_calls import answer, refused

pytestmark = pytest.mark.usefixtures("scripted")

OF_S1 = ("--app", "orders", "--session", "s1")

COUNTED = """
from pathlib import Path
from runtime.agents import LlmAgent, ToolContext
from runtime.apps import App
from runtime.models.scripted_llm import ScriptedLlm
CALLS = Path(__file__).with_name("calls")
def call(name):
    CALLS.write_text(CALLS.read_text() + name + "\\n" if CALLS.exists() else name + "\\n")
def pay(amount: int, tool_context: ToolContext) -> dict:
    call("pay")
    tool_context.state["paid"] = amount
    return {"paid": amount}
def reply(request):
    call("model")
    last = request.contents[-1].parts[-1]
    response = last.function_response
    return f"paid {response.response['paid']}" if response else {"calls": [["pay", {"amount": 5}]]}
app = App(name="payer", root_agent=LlmAgent(name="payer", model=ScriptedLlm(replies=[reply] * 9), tools=[pay]))
"""


@pytest.fixture
def paid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[str, str, Path]:
    """Return an agent that logs its calls to a file, a database with one run of it, and that file, emptied."""
    agent, database = write_agent(tmp_path / "payer", COUNTED), str(tmp_path / "p.db")
    assert main(["run", agent, "--message", "pay", "--db", database, "--session", "s1"]) == 0
    capsys.readouterr()
    calls = tmp_path / "payer" / "calls"
    assert calls.read_text() == "model\npay\nmodel\n"
    calls.unlink()
    return agent, database, calls


def ids(capsys: pytest.CaptureFixture[str], database: str, app: str, session: str = "s1") -> list[str]:
    assert main(["events", database, "--app", app, "--session", session, "--json"]) == 0
    return [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()]


def lines(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> list[dict[str, Any]]:
    assert main([*arguments, "--json"]) == status
    out, err = capsys.readouterr()
    assert err == ""
    return [json.loads(line) for line in out.splitlines()]


def test_a_fork_at_an_event_and_its_tree(ordered: str, capsys: pytest.CaptureFixture[str]) -> None:
    events = ids(capsys, ordered, "orders")
    (made,) = lines(capsys, "fork", ordered, *OF_S1, "--at", events[4], "--new-session", "f")
    fork = made["fork"]
    assert (fork["session_id"], fork["database"], fork["event_id"], fork["event_count"]) == ("f", ordered, events[4], 5)
    assert fork["parent"] == {"app_name": "orders", "user_id": "user", "session_id": "s1", "database": None}
    assert ids(capsys, ordered, "orders", "f") == events[:5]
    (tree,) = answer(capsys, "forks", ordered)
    assert (tree["session_id"], [child["session_id"] for child in tree["children"]]) == ("s1", ["f"])
    assert main(["forks", ordered]) == 0
    assert capsys.readouterr().out.startswith("orders/user/s1\n  f  after 5 events, ")
    assert "already exists" in refused(capsys, "fork", ordered, *OF_S1, "--new-session", "f")


def test_a_fork_of_a_paused_invocation_can_be_answered(ordered: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = str(tmp_path / "other.db")
    before = hashlib.sha256(Path(ordered).read_bytes()).hexdigest()
    lines(capsys, "fork", ordered, *OF_S1, "--into", other, "--new-session", "f")
    *_, end = lines(capsys, "resume", ORDERS, "--db", other, "--session", "f", "--response", '{"status": "approved"}')
    assert end["run"]["status"] == "finished"
    assert hashlib.sha256(Path(ordered).read_bytes()).hexdigest() == before


def test_a_fork_before_an_invocation_with_another_message(ordered: str, capsys: pytest.CaptureFixture[str]) -> None:
    (invocation,) = answer(capsys, "invocations", ordered, *OF_S1)
    arguments = ("--before", invocation["invocation_id"], "--new-session", "f", "--agent", ORDERS, "--message", "2 desk lamps")
    made, *events, end = lines(capsys, "fork", ordered, *OF_S1, *arguments)
    changed = {"what": "message", "event_id": invocation["first_event_id"], "before": "40 boxes of A4 paper", "after": "2 desk lamps"}
    assert made["fork"]["changed"] == changed and made["fork"]["event_count"] == 0
    assert events and end["run"]["session_id"] == "f" and end["run"]["status"] == "finished"


def test_a_rerun_makes_only_the_calls_after_the_event(paid: tuple[str, str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    agent, database, calls = paid
    of_s1 = ("--app", "payer", "--session", "s1")
    events = ids(capsys, database, "payer")
    made, *_, rerun, end = lines(capsys, "fork", database, *of_s1, "--at", events[2], "--agent", agent, "--rerun")
    assert rerun == {"rerun": {"answered_from_the_recording": {"model_calls": 1, "tool_calls": 1}, "divergences": []}}
    assert calls.read_text() == "model\n" and end["run"]["status"] == "finished"
    found = answer(capsys, "compare", database, "--app", "payer", "--session", "s1", "--session", made["fork"]["session_id"])
    assert found["first_difference"] is None and found["state"] == []

    calls.unlink()
    made, *_ = lines(capsys, "fork", database, *of_s1, "--at", events[2], "--agent", agent, "--rerun", "--result", '{"paid": 6}')
    assert calls.read_text() == "model\n" and made["fork"]["changed"]["what"] == "result"
    session = made["fork"]["session_id"]
    found = answer(capsys, "compare", database, "--app", "payer", "--session", "s1", "--session", session, status=1)
    assert (found["first_difference"]["row"], [row["same"] for row in found["rows"]]) == (2, [True, True, False, False])
    assert found["rows"][2]["differences"] == [{"area": "result", "name": "pay", "left": {"paid": 5}, "right": {"paid": 6}}]
    assert found["rows"][3]["differences"][0] == {"area": "text", "name": "", "left": "paid 5", "right": "paid 6"}
    assert [content["role"] for content in found["first_difference"]["prompts"]["right"]] == ["user"]
    assert main(["compare", database, "--app", "payer", "--session", "s1", "--session", session]) == 1
    out = capsys.readouterr().out
    assert "= 2 equal\n" in out and "    result pay: {paid: 5} | {paid: 6}\n" in out

    calls.unlink()
    lines(capsys, "fork", database, *of_s1, "--agent", agent, "--rerun", "--answer", "Nothing.")
    assert not calls.exists()
    assert main(["forks", database]) == 0
    told = capsys.readouterr().out
    assert all(
        words in told for words in ("  run again\n", "result changed: {paid: 5} → {paid: 6}\n", 'answer changed: "paid 5" → "Nothing."\n')
    )
    assert "is not a tool's result" in refused(capsys, "fork", database, *of_s1, "--agent", agent, "--rerun", "--result", "{}")


def test_two_databases_are_compared(ordered: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = str(tmp_path / "other.db")
    lines(capsys, "fork", ordered, *OF_S1, "--into", other, "--new-session", "s1")
    assert answer(capsys, "compare", ordered, other, *OF_S1)["first_difference"] is None


@pytest.mark.parametrize(
    "arguments",
    [
        ("fork", "x.db", *OF_S1, "--rerun"),
        ("fork", "x.db", *OF_S1, "--agent", "a"),
        ("fork", "x.db", *OF_S1, "--agent", "a", "--message", "m", "--answer", "x"),
        ("fork", "x.db", *OF_S1, "--agent", "a", "--rerun", "--before", "i"),
        ("fork", "x.db", *OF_S1, "--agent", "a", "--rerun", "--call", "c"),
        ("compare", "x.db", *OF_S1),
        ("compare", "x.db", *OF_S1, *OF_S1, *OF_S1),
        ("rewind", "x.db", *OF_S1),
    ],
)
def test_contradictory_options_are_usage_errors(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert "usage:" in capsys.readouterr().err


def test_a_rewind_is_described_and_done(ordered: str, capsys: pytest.CaptureFixture[str]) -> None:
    (invocation,) = answer(capsys, "invocations", ordered, *OF_S1)
    before = ("--before", invocation["invocation_id"])
    content = Path(ordered).read_bytes()
    assert main(["rewind", ordered, *OF_S1, *before, "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "paused, 11 events: 40 boxes of A4 paper" in out and "  total: 168.0 → null" in out
    assert "shared with other sessions: app:limit, app:stock_calls" in out and "check_stock (×2)" in out
    assert f"agent-inspector fork {ordered} --app orders --user user --session s1 --before {invocation['invocation_id']}" in out
    assert Path(ordered).read_bytes() == content
    done = answer(capsys, "rewind", ordered, *OF_S1, *before)["rewind"]
    assert done["done"] and done["event_id"] == ids(capsys, ordered, "orders")[-1]
    state = answer(capsys, "state", ordered, *OF_S1)["session"]
    assert state == {change["key"]: change["after"] for change in done["state"]}
    assert "already taken it back" in refused(capsys, "rewind", ordered, *OF_S1, *before)


def test_another_programs_session_is_forked_into_the_named_database(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    theirs = copy_of("open/adk2.13.0-v1-chat_tools.db", tmp_path)
    (session, *_) = answer(capsys, "sessions", str(theirs))
    of_it = ("--app", session["app_name"], "--user", session["user_id"], "--session", session["id"])
    assert main(["fork", str(theirs), *of_it]) == 1
    assert "--into" in capsys.readouterr().err
    assert answer(capsys, "fork", str(theirs), *of_it, "--into", str(tmp_path / "new.db"))["fork"]


def test_another_programs_session_is_rewound_only_in_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    theirs = copy_of("open/adk2.13.0-v1-chat_tools.db", tmp_path)
    (session, *_) = answer(capsys, "sessions", str(theirs))
    of_it = ("--app", session["app_name"], "--user", session["user_id"], "--session", session["id"])
    *_, last = answer(capsys, "invocations", str(theirs), *of_it)
    arguments = ("rewind", str(theirs), *of_it, "--before", last["invocation_id"])
    content = theirs.read_bytes()
    assert main([*arguments, "--json"]) == 1
    assert "--in-place" in capsys.readouterr().err and theirs.read_bytes() == content
    assert answer(capsys, *arguments, "--in-place")["rewind"]["done"]
    assert list(tmp_path.glob("*.backup-*"))


def test_a_missing_artifact_folder_is_not_created(ordered: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = ("--artifacts", str(tmp_path / "files"))
    assert "There is no folder" in refused(capsys, "fork", ordered, *OF_S1, *missing)
    (invocation,) = answer(capsys, "invocations", ordered, *OF_S1)
    assert "There is no folder" in refused(capsys, "rewind", ordered, *OF_S1, "--before", invocation["invocation_id"], *missing)
    assert not (tmp_path / "files").exists()
    assert len(answer(capsys, "sessions", ordered)) == 1


def test_the_writers_of_a_key_are_listed(ordered: str, capsys: pytest.CaptureFixture[str]) -> None:
    (write,) = answer(capsys, "state", ordered, *OF_S1, "--writers", "total")
    assert (write["author"], write["tools"], write["before"], write["after"], write["is_new"]) == (
        "order_desk",
        ["add_to_cart"],
        None,
        168.0,
        True,
    )
    assert [write["after"] for write in answer(capsys, "state", ordered, *OF_S1, "--writers", "app:stock_calls")] == [1, 2]
    assert main(["state", ordered, *OF_S1, "--writers", "app:stock_calls"]) == 0
    assert "check_stock" in capsys.readouterr().out
    assert answer(capsys, "state", ordered, *OF_S1, "--writers", "nothing") == []
