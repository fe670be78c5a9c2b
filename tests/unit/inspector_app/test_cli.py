from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from inspector_app.cli import app_command, main
from tests.agent_folders import write_agent
from tests.end2end.processes import ORDERS, ROOT, STORY, environment
from tests.unit.inspector_app.main_calls import answer, refused

pytestmark = pytest.mark.usefixtures("scripted")

SESSION = ("--app", "orders", "--session", "s1")


# run


def test_run_prints_events_and_then_the_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", ORDERS, "--message", "2 desk lamps", "--user", "ana", "--session", "s7", "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    *events, end = map(json.loads, out.splitlines())
    assert {event["author"] for event in events} == {"order_desk"}
    assert events[-1]["actions"]["end_of_agent"] is True
    run = end["run"]
    assert run.pop("invocation_id") == events[0]["invocation_id"]
    assert run == {"app_name": "orders", "user_id": "ana", "session_id": "s7", "status": "finished", "pending": []}


def test_run_prints_lines_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", ORDERS, "--message", "40 boxes of A4 paper"]) == 3
    out, _ = capsys.readouterr()
    assert 'order_desk  tool call  call find_product(query="A4 paper")' in out
    assert "waiting: for an answer to ask_for_approval" in out


def test_streamed_text_grows_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", ORDERS, "--message", "hello", "--streaming"]) == 0
    out, _ = capsys.readouterr()
    assert out.splitlines()[0] == "I sell A4 paper, ballpoint pens, desk lamps and office chairs. What can I send you, and how many?"


def test_streamed_events_are_separate_json_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", ORDERS, "--message", "hello", "--streaming", "--json"]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    pieces = [event["content"]["parts"][0]["text"] for event in events if event.get("partial")]
    assert len(pieces) > 5
    assert "".join(pieces).startswith("I sell A4 paper")


def test_run_continues_a_session_under_its_app_and_user(ordered: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", ORDERS, "--message", "hello", "--db", ordered, "--session", "s1", "--state", '{"app:vat": 0.23}']) == 0
    assert main(["run", ORDERS, "--message", "hello", "--db", ordered, "--session", "s2", "--app", "other", "--user", "ana"]) == 0
    capsys.readouterr()
    sessions = answer(capsys, "sessions", ordered)
    assert {(s["app_name"], s["user_id"], s["id"]) for s in sessions} == {("orders", "user", "s1"), ("other", "ana", "s2")}
    assert answer(capsys, "state", ordered, *SESSION)["app"]["app:vat"] == 0.23


def test_unstorable_state_is_rejected_before_anything_is_stored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database, deep = tmp_path / "new.db", '{"x": ' + "[" * 150 + "]" * 150 + "}"
    assert "nested deeper" in refused(capsys, "run", ORDERS, "--message", "hello", "--db", str(database), "--state", deep)
    assert not database.exists()

    message = ("run", ORDERS, "--message", "hello", "--db", str(database), "--session", "s1")
    assert main(message) == 0
    capsys.readouterr()
    assert "nested deeper" in refused(capsys, *message, "--state", deep)
    assert len(answer_lines(capsys, "events", str(database), *SESSION)) == 3


def test_a_tool_that_raises_fails_the_run_and_keeps_committed_events(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    agent = write_agent(
        tmp_path / "broken",
        "from runtime.agents import LlmAgent\n"
        "from runtime.models import ScriptedLlm\n"
        "def lookup():\n    'Look up.'\n    raise OSError('the shelf is empty')\n"
        "root_agent = LlmAgent(name='clerk', model=ScriptedLlm(replies=[{'calls': [('lookup', {})]}]), tools=[lookup])\n",
    )
    database = str(tmp_path / "broken.db")
    assert main(["run", agent, "--message", "go", "--db", database, "--session", "s1", "--json"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out.splitlines()[-1])["run"]["status"] == "failed"
    assert "in lookup" in err
    assert err.endswith("agent-inspector: The agent failed with OSError: the shelf is empty\n")
    assert len(answer_lines(capsys, "events", database, "--app", "broken", "--session", "s1")) == 2


def test_a_failed_run_is_not_reported_as_finished(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    agent = write_agent(
        tmp_path / "hasty",
        "from runtime.agents import BaseAgent\n"
        "from runtime.events import Event, EventActions\n"
        "class Hasty(BaseAgent):\n"
        "    async def _run_async_impl(self, ctx):\n"
        "        yield Event(author=self.name, actions=EventActions(state_delta={'good': 1}))\n"
        "        yield Event(author=self.name, actions=EventActions(state_delta={'bad': object()}))\n"
        "root_agent = Hasty(name='hasty')\n",
    )
    assert main(["run", agent, "--message", "go"]) == 1
    out, err = capsys.readouterr()
    assert "good = 1" in out and "finished" not in out
    assert err.startswith("agent-inspector: state['bad'] cannot be stored")


STATE_WRITER = """
from runtime.agents import BaseAgent
from runtime.events import Event, EventActions

class Writer(BaseAgent):
    async def _run_async_impl(self, ctx):
        yield Event(author=self.name, actions=EventActions(state_delta={"done": True}))
        if ctx.user_content.parts[0].text == "fail":
            raise RuntimeError("boom")

root_agent = Writer(name="writer")
"""


@pytest.mark.rule("I8")
@pytest.mark.parametrize("stored", [False, True], ids=["in memory", "in a database"])
def test_an_agent_that_ends_without_a_text_is_finished(stored: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    agent, database = write_agent(tmp_path / "writer", STATE_WRITER), str(tmp_path / "s.db")
    where = ("--db", database) if stored else ()
    assert main(["run", agent, "--message", "go", "--session", "s1", *where, "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out.splitlines()[-1])["run"]["status"] == "finished" and err == ""
    assert main(["run", agent, "--message", "fail", "--session", "s1", *where, "--json"]) == 1
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["run"]["status"] == "failed"
    if stored:
        (listed,) = answer(capsys, "sessions", database)
        found = answer(capsys, "invocations", database, "--app", "writer", "--session", "s1")
        assert [each["reason"] for each in found] == ["the agent ended", "RuntimeError: boom"]
        assert [item["invocation_id"] for item in listed["pending"]] == [found[1]["invocation_id"]]


def answer_lines(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert main([*arguments, "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_an_agents_prints_go_to_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = "print('at import')\n" + ASKING.format(calls=[]).replace("'Ask a person.'", "print('in a tool')")
    agent = write_agent(tmp_path / "asking", source.replace("'calls': []", "'calls': [('ask', {'who': 'ana'})]"))
    assert main(["run", agent, "--message", "go", "--json"]) == 3
    out, err = capsys.readouterr()
    assert all(json.loads(line) for line in out.splitlines())
    assert err == "at import\nin a tool\n"


# reading


def test_sessions(ordered: str, capsys: pytest.CaptureFixture[str]) -> None:
    (session,) = answer(capsys, "sessions", ordered)
    (pending,) = session.pop("pending")
    assert session.pop("last_update_time") > 1.7e9
    about = {"title": "40 boxes of A4 paper", "app_name": "orders", "user_id": "user", "id": "s1", "event_count": 11}
    assert session == about
    assert pending.pop("call_id").startswith("adk-")
    assert pending.pop("invocation_id").startswith("e-")
    assert pending == {"kind": "long_running", "name": "ask_for_approval", "is_past": False}


def test_events_after_an_event(ordered: str, capsys: pytest.CaptureFixture[str]) -> None:
    events = answer_lines(capsys, "events", ordered, *SESSION)
    assert [event["author"] for event in events] == ["user", *["order_desk"] * 10]
    assert answer_lines(capsys, "events", ordered, *SESSION, "--after", events[3]["id"], "--limit", "2") == events[4:6]
    assert answer_lines(capsys, "events", ordered, *SESSION, "--limit", "0") == []


def test_events_matching_a_condition(ordered: str, capsys: pytest.CaptureFixture[str]) -> None:
    events = answer_lines(capsys, "events", ordered, *SESSION)
    calls = answer_lines(capsys, "events", ordered, *SESSION, "--where", 'kind == "tool call" and call == "ask_for_approval"')
    assert [event["id"] for event in calls] == [
        event["id"] for event in events if "ask_for_approval" in json.dumps(event) and "function_call" in json.dumps(event)
    ]
    changed = answer_lines(capsys, "events", ordered, *SESSION, "--where", 'state["approval"] changed')
    assert [event["actions"]["state_delta"]["approval"] for event in changed] == ["asked for"]
    first = answer_lines(
        capsys, "events", ordered, *SESSION, "--where", 'author == "order_desk"', "--limit", "1", "--after", events[2]["id"]
    )
    assert first == events[3:4]


def test_an_invalid_condition_is_a_usage_error_with_its_position(ordered: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["events", ordered, *SESSION, "--where", "autor == 1"]) == 2
    assert "did you mean `author`?" in capsys.readouterr().err


def test_state_at_present_and_after_an_event(ordered: str, capsys: pytest.CaptureFixture[str]) -> None:
    now = answer(capsys, "state", ordered, *SESSION)
    assert now["session"]["approval"] == "asked for"
    assert (now["user"], now["unknown"]) == ({}, [])
    events = answer_lines(capsys, "events", ordered, *SESSION)
    first_failure = events[4]["id"]
    then = answer(capsys, "state", ordered, *SESSION, "--at", first_failure)
    said = {"last_answer": "Found it: A4 paper 80 g, box at 4.20 €. "}  # beside its first call
    assert then == {"session": said, "user": {}, "app": {"app:stock_calls": 1}, "unknown": []}
    assert answer(capsys, "state", ordered, *SESSION, "--at", events[-1]["id"]) == now


def test_invocations(ordered: str, capsys: pytest.CaptureFixture[str]) -> None:
    events = answer_lines(capsys, "events", ordered, *SESSION)
    (invocation,) = answer(capsys, "invocations", ordered, *SESSION)
    assert invocation == {
        "invocation_id": events[0]["invocation_id"],
        "status": "paused",
        "reason": "for an answer to ask_for_approval",
        "first_event_id": events[0]["id"],
        "last_event_id": events[-1]["id"],
        "checkpoint": {},
    }


def test_reading_commands_print_tables_on_a_terminal(ordered: str, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("sessions", "events", "state", "invocations"):
        assert main([command, ordered, *(SESSION if command != "sessions" else ())]) == 0
    out = capsys.readouterr().out
    assert "SESSION  EVENTS" in out
    assert "app:limit = 150.0" in out
    assert "long_running ask_for_approval" in out


def test_control_characters_of_an_agent_do_not_reach_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = str(tmp_path / "a.db")
    assert main(["run", ORDERS, "--message", "\x1b[2J\u202ehello", "--db", database, "--session", "s\x1b[1m"]) == 0
    assert main(["sessions", database]) == 0
    assert main(["events", database, "--app", "orders", "--session", "s\x1b[1m"]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_control_characters_of_a_failure_do_not_reach_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text(
        "\n".join(
            (
                "from runtime.agents import BaseAgent",
                "class Failing(BaseAgent):",
                "    async def _run_async_impl(self, ctx):",
                "        raise ValueError('\\u202ered')",
                "        yield",
                "root_agent = Failing(name='failing')",
            )
        ),
        "utf-8",
    )
    assert main(["run", str(agent), "--message", "x"]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "agent-inspector: The agent failed with ValueError: ⟨U+202E⟩red"


def test_a_misspelt_command_gets_a_suggestion(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sesions", str(tmp_path / "a.db")]) == 2
    assert "sesions is not a file or folder; did you mean the command `sessions`?" in capsys.readouterr().err


# resume


def test_an_answer_resumes_a_paused_invocation(ordered: str, capsys: pytest.CaptureFixture[str]) -> None:
    resume = ["resume", ORDERS, "--db", ordered, "--session", "s1", "--json"]
    assert main(resume) == 3
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["run"]["status"] == "paused"
    assert main([*resume, "--response", '{"status": "rejected"}']) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert events[0]["content"]["parts"][0]["text"] == "The order was not approved, so I did not place it."
    assert events[-1]["run"]["status"] == "finished"


def test_resuming_a_finished_invocation_fails(ordered: str, capsys: pytest.CaptureFixture[str]) -> None:
    resume = ("resume", ORDERS, "--db", ordered, "--session", "s1")
    (invocation,) = answer(capsys, "invocations", ordered, *SESSION)
    assert main([*resume, "--response", '{"status": "approved"}']) == 0
    capsys.readouterr()
    assert "every invocation of the session is finished" in refused(capsys, *resume)
    assert "is finished (order_desk reached its end)" in refused(capsys, *resume, "--invocation", invocation["invocation_id"])
    assert len(answer_lines(capsys, "events", ordered, *SESSION)) == 16


def test_invalid_answers_fail(ordered: str, capsys: pytest.CaptureFixture[str]) -> None:
    resume = ("resume", ORDERS, "--db", ordered, "--session", "s1")
    assert "No waiting call has the id 'adk-no'. Waiting calls: adk-" in refused(capsys, *resume, "--response", "{}", "--call", "adk-no")
    assert "no invocation 'e-none'" in refused(capsys, *resume, "--invocation", "e-none")
    assert len(answer_lines(capsys, "events", ordered, *SESSION)) == 11


def test_resuming_an_app_that_is_not_resumable_fails(tmp_path: Path, ordered: str, capsys: pytest.CaptureFixture[str]) -> None:
    agent = write_agent(tmp_path / "plain", "from runtime.agents import LlmAgent\nroot_agent = LlmAgent(name='order_desk')\n")
    assert "is not resumable" in refused(capsys, "resume", agent, "--db", ordered, "--app", "orders", "--session", "s1")


ASKING = """
from runtime.agents import LlmAgent
from runtime.apps import App, ResumabilityConfig
from runtime.models import ScriptedLlm
from runtime.tools import FunctionTool, LongRunningFunctionTool

def ask(who: str):
    'Ask a person.'

def delete(what: str):
    'Delete something.'
    return {{'deleted': what}}

clerk = LlmAgent(
    name='clerk',
    model=ScriptedLlm(replies=[{{'calls': {calls}}}, 'Thank you.']),
    tools=[LongRunningFunctionTool(func=ask), FunctionTool(delete, require_confirmation=True)],
)
app = App(name='asking', root_agent=clerk, resumability_config=ResumabilityConfig(is_resumable=True))
"""


def test_two_waiting_calls_are_answered_by_id(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    agent = write_agent(tmp_path / "asking", ASKING.format(calls=[("ask", {"who": "ana"}), ("ask", {"who": "bob"})]))
    database = str(tmp_path / "a.db")
    assert main(["run", agent, "--message", "go", "--db", database, "--session", "s1", "--json"]) == 3
    pending = json.loads(capsys.readouterr().out.splitlines()[-1])["run"]["pending"]
    assert [item["name"] for item in pending] == ["ask", "ask"]
    resume = ("resume", agent, "--db", database, "--session", "s1", "--response", '{"said": "yes"}')
    error = refused(capsys, *resume)
    assert "Several calls wait. Name one with --call" in error
    assert all(item["call_id"] in error for item in pending)
    assert main([*resume, "--call", pending[1]["call_id"], "--json"]) == 3
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["run"]["pending"] == pending[:1]
    assert main([*resume, "--call", pending[0]["call_id"], "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["run"]["status"] == "finished"


@pytest.mark.parametrize(("confirmed", "result"), [(True, {"deleted": "all"}), (False, {"error": "This tool call is rejected."})])
def test_a_confirmation(tmp_path: Path, capsys: pytest.CaptureFixture[str], confirmed: bool, result: dict[str, Any]) -> None:
    agent = write_agent(tmp_path / "asking", ASKING.format(calls=[("delete", {"what": "all"})]))
    database = str(tmp_path / "a.db")
    assert main(["run", agent, "--message", "go", "--db", database, "--session", "s1", "--json"]) == 3
    (item,) = json.loads(capsys.readouterr().out.splitlines()[-1])["run"]["pending"]
    assert (item["kind"], item["name"]) == ("confirmation", "delete")
    answer_json = json.dumps({"confirmed": confirmed})
    assert main(["resume", agent, "--db", database, "--session", "s1", "--json", "--response", answer_json]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert events[0]["content"]["parts"][0]["function_response"]["response"] == result


def test_json_is_valid_for_numbers_that_json_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = tmp_path / "nan.db"
    database.write_bytes((ROOT / "tests" / "data" / "v1.db").read_bytes())
    connection = sqlite3.connect(database)
    connection.execute("UPDATE sessions SET state = ?", ('{"rate": NaN, "most": Infinity}',))
    connection.execute(
        "UPDATE events SET event_data = json_set(event_data, '$.actions.state_delta', json(?)) WHERE rowid = 2", ('{"rate": 123456789}',)
    )
    connection.execute("UPDATE events SET event_data = replace(event_data, '123456789', 'NaN')")
    key = connection.execute("SELECT app_name, user_id, id FROM sessions").fetchone()
    connection.commit()
    connection.close()

    def refuse(text: str) -> None:
        raise AssertionError(f"{text} is no JSON")

    which = [word for pair in zip(("--app", "--user", "--session"), key, strict=True) for word in pair]
    for command in (["sessions"], ["events", *which], ["state", *which], ["state", *which, "--writers", "rate"], ["invocations", *which]):
        assert main([command[0], str(database), *command[1:], "--json"]) == 0
        for line in capsys.readouterr().out.splitlines():
            json.loads(line, parse_constant=refuse)
    state = answer(capsys, "state", str(database), *which)
    assert state["session"]["rate"] is None
    assert state["not_finite"] == {"/session/rate": "NaN", "/session/most": "Infinity"}
    events = answer_lines(capsys, "events", str(database), *which)
    assert events[1]["custom_metadata"]["inspector_not_finite"] == {"/actions/state_delta/rate": "NaN"}


def test_json_is_valid_in_an_encoding_that_lacks_characters(tmp_path: Path) -> None:
    environ = {**environment(), "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "inspector_app", "run", ORDERS, "--message", "é \U0001f600", "--session", "sé", "--json"]
    done = subprocess.run(command, env=environ, capture_output=True, timeout=60)
    lines = [json.loads(line.decode("ascii")) for line in done.stdout.splitlines()]
    assert lines[-1]["run"]["session_id"] == "sé"


# invalid input


def test_a_missing_session_or_event_fails(ordered: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no session 's2'" in refused(capsys, "events", ordered, "--app", "orders", "--session", "s2")
    assert "A session with this id belongs to orders/user" in refused(capsys, "state", ordered, "--app", "shop", "--session", "s1")
    assert "no session 's2'" in refused(capsys, "resume", ORDERS, "--db", ordered, "--session", "s2")
    assert "no event 'nine'" in refused(capsys, "state", ordered, *SESSION, "--at", "nine")
    refused(capsys, "events", ordered, *SESSION, "--after", "nine")


def test_an_agent_that_cannot_be_loaded_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "has no agent" in refused(capsys, "run", str(tmp_path), "--message", "hello")
    agent = write_agent(tmp_path / "broken", "def outer():\n    return {}['missing']\nouter()\n")
    assert main(["run", agent, "--message", "hello"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "in outer" in err
    assert "agent-inspector: The agent in" in err


@pytest.mark.parametrize("arguments", [("events", ""), ("--size", "12"), ("--theme", "pink"), ("--no-such-option",)])
def test_usage_errors(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert (out, err.startswith("usage: agent-inspector")) == ("", True)


def test_help_names_every_subcommand(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(f"\n  {command} " in out for command in app_command().commands)
    assert "--screenshot" in out


def test_every_command_has_examples_and_the_exit_statuses_in_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    for command in app_command().commands:
        assert main([command, "--help"]) == 0
        out = " ".join(capsys.readouterr().out.split())
        assert "Examples:" in out and "3 the invocation is paused and waits for an answer" in out
        assert main(["help", command]) == 0
        assert " ".join(capsys.readouterr().out.split()) == out


# as a process


def test_an_interrupted_stored_run_prints_its_session_and_invocation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = str(tmp_path / "story.db")
    process = start("run", STORY, "--message", "x", "--db", database, "--json", delay=0.2)
    assert process.stdout is not None
    invocation = json.loads(process.stdout.readline())["invocation_id"]
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    (stored,) = answer(capsys, "sessions", database)
    assert (process.returncode, err) == (130, f"agent-inspector: Interrupted in session {stored['id']}, invocation {invocation}\n")


@pytest.mark.parametrize("arguments", [("--help",), ("run", STORY, "--message", "x", "--json")])
def test_a_closed_pipe_is_silent(arguments: tuple[str, ...]) -> None:
    process = start(*arguments, delay=0.1)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(30) == (0 if arguments == ("--help",) else 1)


def start(*arguments: str, delay: float) -> subprocess.Popen[str]:
    # Interrupts may be ignored if the tests run in the background, and children inherit that.
    code = (
        "import signal, runpy; signal.signal(signal.SIGINT, signal.default_int_handler);"
        " runpy.run_module('inspector_app', run_name='__main__', alter_sys=True)"
    )
    command = [sys.executable, "-c", code, *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, env=environment(delay), stdout=pipe, stderr=pipe, text=True)


# a folder of agents


@pytest.mark.parametrize("command", [("run", "--message", "hello"), ("doctor",), ("resume", "--db", "sessions.db")])
def test_a_folder_of_agents_is_answered_with_the_command_for_one_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    agents = tmp_path / "my agents"
    agents.mkdir()
    for name in ("billing", "planner"):
        write_agent(agents / name, "raise SystemExit")
    assert main([command[0], str(agents), *command[1:]]) == 1
    pasted = " ".join(["agent-inspector", command[0], f"'{agents}/billing'", *command[1:]])
    assert capsys.readouterr().err == (
        f"agent-inspector: {agents} holds several agents: billing, planner. Name one of them. Such as: {pasted}\n"
    )
