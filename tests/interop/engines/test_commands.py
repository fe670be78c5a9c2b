"""`run` and `resume` on the real google-adk, from the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from inspector_app.cli import main
from tests.interop.engines.conftest import AGENTS
from tests.interop.google_adk import adk_python, run_adk

THREAD_BOUND_AGENT = """
import sqlite3, threading
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.genai import types

rows = sqlite3.connect(":memory:")
rows.execute("create table seen (n)")
local = threading.local()
local.value = 7


class Echo(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        text = str(llm_request.config.system_instruction)
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=text)]))


def count(callback_context):
    rows.execute("insert into seen values (1)")


def instruction(context):
    return f"{local.value} and {rows.execute('select count(*) from seen').fetchone()[0]} row"


root_agent = LlmAgent(name="bound", model=Echo(model="echo"), instruction=instruction, before_agent_callback=count)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an agent's folder below a `.venv` with google-adk."""
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    (tmp_path / ".venv").symlink_to(Path(adk_python()).parent.parent)
    return Path(shutil.copytree(AGENTS / "steps", tmp_path / "steps", ignore=shutil.ignore_patterns("__pycache__")))


def test_an_invocation_runs_pauses_and_is_resumed(project: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    message = json.dumps([["call", "order", {"item": "paper"}], ["It is ordered."]])
    common = ("--db", str(tmp_path / "s.db"), "--session", "s1", "--json")
    assert main(["run", str(project), "--message", message, "--state", '{"user:name": "Ana"}', *common]) == 3
    *events, end = map(json.loads, capfd.readouterr().out.splitlines())
    assert end["run"]["status"] == "paused"
    assert end["run"]["pending"][0]["name"] == "order"
    assert [event["author"] for event in events] == ["steps"] * len(events)
    assert main(["resume", str(project), "--response", '{"status": "done"}', *common]) == 0
    *_, end = map(json.loads, capfd.readouterr().out.splitlines())
    assert end["run"]["status"] == "finished"
    stored = run_adk(
        """
        service = DatabaseSessionService(db_url=f"sqlite+aiosqlite:///{args[0]}")
        session = await service.get_session(app_name="steps_app", user_id="user", session_id="s1")
        return [session.state["user:name"], [event.author for event in session.events][:1]]
        """,
        str(tmp_path / "s.db"),
    )
    assert stored == ["Ana", ["user"]]


def test_what_the_agent_prints_goes_to_stderr_and_its_failure_is_named(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    message = json.dumps([["call", "weather", {"city": "Bern"}, "call", "broken", {"number": 3}]])
    assert main(["run", str(project), "--message", message]) == 1
    printed = capfd.readouterr()
    assert "looking up Bern" in printed.err and "looking up Bern" not in printed.out
    assert "no 3 here" in printed.err


def test_the_embedded_runtime_in_a_process_of_its_own(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    message = json.dumps([["call", "weather", {"city": "Bern"}], ["It is blue."]])
    assert main(["run", str(project), "--message", message, "--engine", "embedded-process"]) == 0
    assert "It is blue." in capfd.readouterr().out


@pytest.mark.rule("R3")
def test_connections_and_thread_locals_of_an_agent_work_in_a_process_of_its_own(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "agent.py").write_text(THREAD_BOUND_AGENT)
    assert main(["run", str(project), "--message", "hi", "--engine", "embedded-process"]) == 0
    assert "7 and 1 row" in capfd.readouterr().out


def test_an_agent_that_cannot_be_imported_is_one_sentence(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "agent.py").write_text("from google.adk.agents import Agent\nimport not_installed\n")
    assert main(["run", str(project), "--message", "hi"]) == 1
    assert "No module named 'not_installed'" in capfd.readouterr().err


@pytest.mark.parametrize("engine", ["adk", "embedded-process"])
def test_a_fork_is_run_again_from_its_recording(project: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], engine: str) -> None:
    file = tmp_path / "notes"
    message = json.dumps([["call", "note", {"path": str(file), "text": "one"}], ["done"]])
    db = str(tmp_path / "s.db")
    assert main(["run", str(project), "--message", message, "--db", db, "--session", "s1", "--engine", engine, "--json"]) == 0
    result = json.loads(capfd.readouterr().out.splitlines()[1])
    fork = ("fork", db, "--session", "s1", "--into", db, "--agent", str(project), "--engine", engine, "--json")
    changed = ("--rerun", "--at", result["id"], "--result", '{"written": "nothing"}')
    assert main([*fork, "--new-session", "s2", *changed]) == 0
    made, *events, rerun, end = map(json.loads, capfd.readouterr().out.splitlines())
    assert made["fork"]["session_id"] == "s2"
    assert "'nothing'" in str(events[1]) and "done" in str(events)
    assert rerun["rerun"] == {"answered_from_the_recording": {"model_calls": 1, "tool_calls": 1}, "divergences": []}
    assert (end["run"]["session_id"], end["run"]["status"]) == ("s2", "finished")
    assert file.read_text() == "one\n"
    assert main([*fork, "--new-session", "s3", "--message", '[["Thank you."]]']) == 0
    assert "Thank you." in capfd.readouterr().out


STATE_ONLY_AGENT = """
from google.adk.agents import BaseAgent
from google.adk.events import Event, EventActions

class Silent(BaseAgent):
    async def _run_async_impl(self, ctx):
        yield Event(invocation_id=ctx.invocation_id, author=self.name, actions=EventActions(state_delta={"done": True}))

root_agent = Silent(name="silent")
"""


def test_a_run_that_only_changes_state_is_finished(project: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "agent.py").write_text(STATE_ONLY_AGENT)
    assert main(["run", str(project), "--message", "hi", "--db", str(tmp_path / "s.db"), "--json"]) == 0
    end = json.loads(capfd.readouterr().out.splitlines()[-1])
    assert (end["run"]["status"], end["run"]["pending"]) == ("finished", [])
