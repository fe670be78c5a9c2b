"""The MCP server, asked by the official client over a real process's input and output."""

from __future__ import annotations

import json
import os
import sys
import tarfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from inspector_app.cli import main
from inspector_app.engines.code_files import code_digest
from inspector_app.resources.samples.story import script
from inspector_app.support.preferences import Preferences
from tests import langgraph_threads
from tests.unit.inspector_app.analysis.v1_file import called, returned, said, write_v1, wrote

DATA = Path(__file__).parents[3] / "data"
ORDERS = Path(script.__file__).parents[1] / "orders"
MOST_BYTES, MOST_CALLS = 8_000, 6

pytestmark = pytest.mark.usefixtures("prepared_pythons")


class Asker:
    """A coding agent's side: it counts its questions and what it has to read."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.calls = self.read = 0

    async def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return an answer."""
        is_error, text = await self.text(tool, **arguments)
        assert not is_error, text
        found: dict[str, Any] = json.loads(text)
        return found

    async def text(self, tool: str, **arguments: Any) -> tuple[bool, str]:
        """Return whether a question was refused, and the text of the answer."""
        result = await self._client.call_tool(tool, arguments)
        [content] = result.content
        self.calls += 1
        self.read += len(content.text.encode())
        return bool(result.is_error), content.text

    async def tools(self) -> dict[str, Any]:
        """Return the tools by name."""
        return {tool.name: tool for tool in (await self._client.list_tools()).tools}


@pytest.fixture
def asking(tmp_path: Path) -> Callable[..., Any]:
    """Return a context manager that starts a server with some words of the command line and yields an `Asker`."""

    @asynccontextmanager
    async def start(*words: object) -> AsyncIterator[Asker]:
        environ = {**os.environ, "XDG_DATA_HOME": str(tmp_path / "data")}
        server = StdioServerParameters(command=sys.executable, args=["-m", "inspector_app", "mcp", *map(str, words)], env=environ)
        async with Client(server) as client:
            yield Asker(client)

    return start


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Return a session in which a discount was taken off twice."""
    events = [
        said("Two chairs, with my voucher", "user"),
        called("price", "c1", author="clerk"),
        returned("price", "c1", author="clerk", actions={"state_delta": {"total": 200, "lines": ["chair", "chair"]}}),
        called("apply_voucher", "c2", author="clerk"),
        returned("apply_voucher", "c2", author="clerk", actions={"state_delta": {"total": 180}}),
        said("I have taken off the voucher.", author="clerk"),
        called("apply_voucher", "c3", author="closer"),
        returned("apply_voucher", "c3", author="closer", actions={"state_delta": {"total": 162}}),
        said("That is 162 in total.", author="closer"),
        wrote({"api_key": "sk-abcdefghijklmnopqrstuvwx"}),
    ]
    return write_v1(tmp_path / "shop.db", events)


async def test_why_a_value_is_wrong_takes_few_short_answers(asking: Callable[..., Any], shop: Path) -> None:
    async with asking(shop) as agent:
        sessions = await agent.ask("which_sessions")
        session = sessions["sessions"][0]["session"]
        assert sessions["sessions"][0]["title"] == "Two chairs, with my voucher"
        writes = (await agent.ask("who_wrote", session=session, key="total"))["writes"]
        assert [write["after"] for write in writes] == ["200", "180", "162"]
        assert [write["who"] for write in writes[1:]] == ["clerk, tool apply_voucher", "closer, tool apply_voucher"], "it was applied twice"
        before = await agent.ask("what_happened", session=session, event=f"#{writes[-1]['n']}", path="actions.state_delta")
        assert json.loads(before["value"]) == {"total": 162}
        calls = await agent.ask("what_happened", session=session, where="call.apply_voucher")
        assert [event["author"] for event in calls["events"]] == ["clerk", "closer"]
        state = await agent.ask("what_was_the_state", session=session, event=f"#{writes[-1]['n'] - 1}", key="total")
        assert state["value"] == "180"
        assert agent.calls <= MOST_CALLS
        assert agent.read <= MOST_BYTES


async def test_every_question_has_a_short_answer(asking: Callable[..., Any], shop: Path) -> None:
    async with asking(shop) as agent:
        tools = await agent.tools()
        assert len(tools) == 8, "read only"
        assert all(tool.annotations.read_only_hint for tool in tools.values())
        for name in tools:
            arguments = {"who_wrote": {"key": "total"}, "what_differs": {"session": "s", "other_session": "s"}}.get(name, {})
            if name == "what_was_the_model_asked":
                arguments = {"event": "#6"}
            answer = await agent.ask(name, **arguments)
            assert answer
        assert agent.read < MOST_BYTES
        assert (await agent.ask("what_differs", session="s", other_session="s"))["same"] is True
        assert "secret in state" in json.dumps(await agent.ask("what_is_wrong"))
        _, text = await agent.text("what_was_the_state", key="api_key")
        assert "sk-" not in text


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("which_sessions", {"database": "nothing.db"}, "was not started on"),
    ("which_sessions", {"page": "two"}, "must be a whole number"),
    ("which_sessions", {"page": -1}, "must not be negative"),
    ("what_happened", {"session": "nobody"}, "There is no session"),
    ("what_happened", {"where": "kind =="}, "is not a condition"),
    ("what_happened", {"event": "zzz"}, "has no event"),
    ("what_happened", {"event": "#1", "path": "content.nothing"}, "There is no 'nothing'"),
    ("what_happened", {"event": "#1", "where": "error"}, "either"),
    ("what_happened", {"even": "#1"}, "Did you mean 'event'"),
    ("what_was_the_state", {"event": "#99"}, "has no event"),
    ("what_was_the_state", {"key": "nothing"}, "There is no key"),
    ("who_wrote", {}, "needs 'key'"),
    ("who_wrote", {"key": "nothing"}, "no recorded write"),
    ("who_wrote", {"key": 7}, "must be a text"),
    ("what_was_the_model_asked", {}, "needs 'event'"),
    ("what_was_the_model_asked", {"event": "#1", "path": "x.y"}, "There is no 'x'"),
    ("what_did_it_cost", {"session": "nobody"}, "There is no session"),
    ("what_differs", {"session": "s"}, "needs 'other_session'"),
    ("what_is_wrong", {"session": "nobody"}, "There is no session"),
    ("how_are_you", {}, "There is no tool"),
    ("run_agent", {"message": "hello"}, "There is no tool"),
]


async def test_wrong_questions_get_a_sentence(asking: Callable[..., Any], shop: Path) -> None:
    async with asking(shop) as agent:
        for tool, arguments, expected in WRONG:
            is_error, text = await agent.text(tool, **arguments)
            assert is_error, (tool, arguments)
            assert expected in text, (tool, arguments, text)
            assert "Traceback" not in text
            assert "\n" not in text


RUN_WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("run_agent", {}, "needs 'message'"),
    ("run_agent", {"message": "x", "until": "kind =="}, "is not a place or a condition"),
    ("run_agent", {"message": "x", "agent": "nowhere"}, "nowhere"),
    ("run_agent", {"message": "x", "session": "nobody"}, "There"),
    ("continue_run", {}, "No run is held"),
    ("continue_run", {"how": "fly"}, "must be one of"),
    ("resume_run", {"session": "nobody"}, "There is no session"),
    ("resume_run", {}, "No invocation of this session waits"),
    ("rerun_with_change", {"event": "#3"}, "either `result` or `answer`"),
    ("rerun_with_change", {"event": "#1", "answer": "x"}, "is not a model answer"),
    ("rerun_with_change", {"event": "#99", "answer": "x"}, "has no event"),
]


async def test_wrong_orders_get_a_sentence(asking: Callable[..., Any], shop: Path) -> None:
    async with asking(shop, ORDERS, "--allow-runs") as agent:
        tools = await agent.tools()
        assert len(tools) == 12
        for tool, arguments, expected in RUN_WRONG:
            is_error, text = await agent.text(tool, **arguments)
            assert is_error, (tool, arguments, text)
            assert expected in text, (tool, arguments, text)
            assert "Traceback" not in text


async def test_an_approval_bug_is_reproduced_fixed_by_a_changed_result_and_compared(asking: Callable[..., Any], tmp_path: Path) -> None:
    async with asking(ORDERS, "--allow-runs") as agent:
        held = await agent.ask("run_agent", message="40 boxes of A4 paper", until="before tool add_to_cart")
        assert (held["run"], held["tool"]) == ("held", "add_to_cart")
        waiting = await agent.ask("continue_run")
        assert waiting["run"] == "paused"
        assert "ask_for_approval" in waiting["waits_for"][0]
        asked = await agent.ask("what_was_the_model_asked", session=waiting["session"], event="#2")
        assert asked["source"] == "recorded: exactly what was sent"
        assert "find_product" in asked["tools"]
        rejected = await agent.ask("resume_run", session=waiting["session"], response={"status": "rejected"})
        assert rejected["run"] == "finished"
        found = await agent.ask("what_happened", session=waiting["session"], where="response.add_to_cart")
        changed = {"total": 168.0, "approval_limit": 500.0, "needs_approval": False}
        again = await agent.ask("rerun_with_change", session=waiting["session"], event=found["events"][0]["id"], result=changed)
        assert again["run"] == "finished", "without the wrong limit no approval is needed"
        difference = await agent.ask("what_differs", session=waiting["session"], other_session=again["session"])
        first = difference["differences"][0]
        assert first["both"]["id"] == found["events"][0]["id"]
        assert "needs_approval: true" in first["changes"][0]
        assert "needs_approval: false" in first["changes"][0]
    assert [*(tmp_path / "data" / "agent-inspector" / "mcp-runs").glob("*.db")], "the runs are there for the window"


async def test_a_held_call_is_changed(asking: Callable[..., Any]) -> None:
    async with asking(ORDERS, "--allow-runs") as agent:
        await agent.ask("run_agent", message="40 boxes of A4 paper", until="before tool check_stock")
        is_error, text = await agent.text("continue_run", answer="hello")
        assert is_error
        assert "cannot be changed here" in text
        stepped = await agent.ask("continue_run", how="step", result={"sku": "PA4-80", "in_stock": 7})
        assert "in_stock: 7" in stepped["events_of_this_run"][-1]["what"]
        is_error, text = await agent.text("run_agent", message="another")
        assert is_error
        assert "A run is still held" in text
        await agent.ask("continue_run", how="stop")
        assert "No run is held" in (await agent.text("continue_run"))[1]


async def test_a_client_that_leaves_a_held_run_ends_the_server(asking: Callable[..., Any]) -> None:
    async with asking(ORDERS, "--allow-runs") as agent:
        held = await agent.ask("run_agent", message="40 boxes of A4 paper", until="before model")
        assert held["run"] == "held"


AGENT = """
from runtime.agents import BaseAgent
from runtime.events import Event
from google.genai import types


class Loud(BaseAgent):
    async def _run_async_impl(self, ctx):
        print("this must not break the protocol")
        yield Event(author=self.name, content=types.Content(role="model", parts=[types.Part(text="done")]))


root_agent = Loud(name="loud")
"""


async def test_only_trusted_code_runs_and_its_prints_do_no_harm(asking: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "loud"
    folder.mkdir()
    (folder / "agent.py").write_text(AGENT)
    preferences = Preferences(tmp_path / "data" / "agent-inspector" / "preferences.json")
    async with asking(folder, "--allow-runs") as agent:
        is_error, text = await agent.text("run_agent", message="hello")
        assert is_error
        assert "is not trusted" in text
        trusted = {"digest": code_digest(folder), "identity": f"{folder.stat().st_ino}:", "changes": False}
        preferences.keep_trusted_code(folder, trusted)
        done = await agent.ask("run_agent", message="hello")
        assert done["events_of_this_run"][0]["what"] == "done"
        (folder / "agent.py").write_text(AGENT + "\n# changed\n")
        is_error, text = await agent.text("run_agent", message="hello")
        assert is_error
        assert "its code has changed" in text


def test_a_wrong_path_is_reported_at_the_start(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", str(tmp_path / "nothing.db")]) == 1
    assert "There is no file" in capsys.readouterr().err


async def test_earlier_messages_without_an_answer_are_counted_beside_a_session(asking: Callable[..., Any], tmp_path: Path) -> None:
    later = [{**event, "invocation_id": "j"} for event in (said("again", "user"), said("Hello."))]
    file = write_v1(tmp_path / "a.db", [said("hello", "user"), *later])
    async with asking(file) as agent:
        [session] = (await agent.ask("which_sessions"))["sessions"]
    assert session["earlier"] == "1 earlier message without an answer" and "pending" not in session


async def test_traces_and_checkpoints_are_read_like_databases(asking: Callable[..., Any], tmp_path: Path) -> None:
    with tarfile.open(DATA / "otlp" / "frameworks.tar.xz") as packed:
        packed.extract("otlp/strands_tools.jsonl", tmp_path, filter="data")
    traces, checkpoints = tmp_path / "otlp" / "strands_tools.jsonl", langgraph_threads.copy_of("create_agent_hitl", tmp_path)
    async with asking(traces, checkpoints) as agent:
        sessions = (await agent.ask("which_sessions"))["sessions"]
        names = {each["session"] for each in sessions}
        assert names == {"conv-2026-001", *(f"refund-{end}" for end in ("approved", "edited", "open", "rejected"))}
        traced = await agent.ask("what_happened", session="conv-2026-001")
        assert traced["events"]
        waiting = await agent.ask("what_happened", session="refund-open", where="call.interrupt")
        assert len(waiting["events"]) == 1
        answer = await agent.ask("what_was_the_model_asked", session="conv-2026-001", event="#2")
        assert answer["source"].startswith("recorded")
