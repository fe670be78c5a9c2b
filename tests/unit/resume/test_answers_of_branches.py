"""Messages that answer long-running calls of several parallel branches."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from pathlib import Path

import pytest
from google.genai import types

from runtime.agents import BaseAgent, LlmAgent, ParallelAgent
from runtime.events import Event
from runtime.events.marks import CONFIRMATION_CALL
from runtime.models import LlmRequest
from runtime.models.scripted_llm import Reply, ScriptedLlm, last_message_text
from runtime.runners import Runner
from runtime.sessions import BaseSessionService, InMemorySessionService
from runtime.sessions.database_session_service import DatabaseSessionService
from runtime.tools import FunctionTool, LongRunningFunctionTool
from tests.seeds.running import resume, run, runner_for, stored, texts

ran: Counter[str] = Counter()


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    ran.clear()


def silent(who: str) -> None:
    """Leave no receipt."""
    ran[who] += 1


def pending(who: str) -> dict[str, str]:
    """Leave a receipt."""
    ran[who] += 1
    return {"status": "pending"}


def guarded(who: str) -> dict[str, str]:
    """Run once it is confirmed."""
    ran[who] += 1
    return {"who": who}


TOOLS = {
    "silent": LongRunningFunctionTool(silent),
    "pending": LongRunningFunctionTool(pending),
    "guarded": FunctionTool(guarded, require_confirmation=True),
}


def asker(name: str, *tools: str) -> LlmAgent:
    """Return an agent that calls the tools, and calls them again unless its last message is a result."""

    def reply(request: LlmRequest) -> Reply | str:
        last = last_message_text(request)
        calls = Reply(calls=[(tool, {"who": f"{name} {tool}"}) for tool in tools])
        return f"{name}: {last}" if any(tool in last for tool in tools) else calls

    return LlmAgent(name=name, model=ScriptedLlm(replies=[reply]), tools=[TOOLS[tool] for tool in tools])


def answers(calls: list[types.FunctionCall], *, text: str = "") -> types.Content:
    parts = []
    for call in calls:
        result = {"confirmed": True} if call.name == CONFIRMATION_CALL else {"answer": (call.args or {})["who"]}
        parts.append(types.Part(function_response=types.FunctionResponse(id=call.id, name=call.name, response=result)))
    return types.Content(role="user", parts=[*parts, types.Part(text=text)] if text else parts)


async def waiting(runner: Runner) -> list[types.FunctionCall]:
    """Run, and return the calls that wait for an answer."""
    await run(runner)
    events = (await stored(runner)).events
    return [call for event in events for call in event.get_function_calls() if call.id in (event.long_running_tool_ids or ())]


def service(kind: str, folder: Path) -> BaseSessionService:
    return InMemorySessionService() if kind == "memory" else DatabaseSessionService(f"sqlite:///{folder / 'a.db'}")


@pytest.mark.rule("C12")
@pytest.mark.parametrize("where", ["memory", "database"])
@pytest.mark.parametrize(
    "tools", [("silent", "silent"), ("pending", "pending"), ("guarded", "guarded"), ("silent", "pending"), ("guarded", "silent")]
)
@pytest.mark.parametrize("reverse", [False, True])
async def test_one_message_answers_both_branches(tools: tuple[str, str], where: str, reverse: bool, tmp_path: Path) -> None:
    def both() -> ParallelAgent:
        return ParallelAgent(name="both", sub_agents=[asker("a", tools[0]), asker("b", tools[1])])

    sessions = service(where, tmp_path)
    calls = await waiting(runner_for(both(), sessions, resumable=True))
    assert len(calls) == 2
    calls.reverse() if reverse else None
    runner = runner_for(both(), sessions, resumable=True)  # as in a new process
    said = sorted(texts(await resume(runner, answers(calls))))
    told = {"guarded": '{{"who": "{0} guarded"}}', "silent": '{{"answer": "{0} silent"}}', "pending": '{{"answer": "{0} pending"}}'}
    assert said == [f"{name}: {tool} {told[tool].format(name)}" for name, tool in zip("ab", tools, strict=True)]
    assert ran == {f"a {tools[0]}": 1, f"b {tools[1]}": 1}
    assert (await stored(runner)).events[-1].actions.end_of_agent
    assert await resume(runner) == []


@pytest.mark.rule("C12")
@pytest.mark.parametrize("order", list(permutations(range(3))))
async def test_answers_in_any_grouping_and_order(order: tuple[int, ...]) -> None:
    nested = ParallelAgent(name="inner", sub_agents=[asker("b", "silent"), asker("c", "silent")])
    runner = runner_for(ParallelAgent(name="outer", sub_agents=[asker("a", "silent"), nested]), resumable=True)
    calls = await waiting(runner)
    first = await resume(runner, answers([calls[order[0]]]))
    rest = await resume(runner, answers([calls[index] for index in order[1:]]))
    assert len(texts(first)) == 1
    expected = [f'{name}: silent {{"answer": "{name} silent"}}' for name in "abc"]
    assert sorted(texts([*first, *rest])) == expected
    assert ran == {f"{name} silent": 1 for name in "abc"}
    assert (await stored(runner)).events[-1].author == "outer"


async def test_two_calls_of_one_branch_beside_one_of_another() -> None:
    agents: list[BaseAgent] = [asker("a", "silent", "pending"), asker("b", "silent")]
    runner = runner_for(ParallelAgent(name="both", sub_agents=agents), resumable=True)
    calls = await waiting(runner)
    said = texts(await resume(runner, answers(calls)))
    assert sorted(said)[0].count("answer") == 2 and len(said) == 2
    assert set(ran.values()) == {1}


async def test_a_text_beside_the_answers_reaches_both_branches() -> None:
    seen: list[list[str]] = []

    def listening(name: str) -> LlmAgent:
        def reply(request: LlmRequest) -> Reply | str:
            heard = [part.text for content in request.contents for part in content.parts or [] if part.text]
            seen.append(heard)
            return "done" if "hurry" in heard else Reply(calls=[("silent", {"who": name})])

        return LlmAgent(name=name, model=ScriptedLlm(replies=[reply]), tools=[TOOLS["silent"]])

    runner = runner_for(ParallelAgent(name="both", sub_agents=[listening("a"), listening("b")]), resumable=True)
    calls = await waiting(runner)
    assert texts(await resume(runner, answers(calls, text="hurry"))) == ["done", "done"]
    assert [heard.count("hurry") for heard in seen] == [0, 0, 1, 1]


@pytest.mark.rule("C7")
async def test_an_answer_for_a_sibling_does_not_reopen_a_finished_turn() -> None:
    """A kill between a's final response and its end; then b's call is answered."""
    runner = runner_for(
        ParallelAgent(name="both", sub_agents=[LlmAgent(name="a", model=ScriptedLlm(replies=["a said", "again"])), asker("b", "silent")]),
        resumable=True,
    )
    (call,) = await waiting(runner)
    whole = await stored(runner)
    kept = [event for event in whole.events if not (event.author == "a" and event.actions.end_of_agent)]
    cut = runner_for(runner.agent, resumable=True)
    session = await cut.session_service.create_session(app_name="app", user_id="u", session_id="s")
    for event in kept:
        await cut.session_service.append_event(session, Event.model_validate_json(event.model_dump_json()))
    said = texts(await resume(cut, answers([call])))
    assert said == ['b: silent {"answer": "b silent"}']


@pytest.mark.parametrize("resumable", [False, True])
async def test_an_answer_without_an_id_is_for_the_next_open_call_of_its_function(resumable: bool) -> None:
    root = LlmAgent(name="root", model=ScriptedLlm(replies=[Reply(calls=[("pending", {"who": who}) for who in "ab"]), "x", "y", "z"]))
    root.tools = [TOOLS["pending"]]
    runner = runner_for(root, resumable=resumable)
    calls = await waiting(runner)
    for call in calls:
        call.id = None
        (await resume(runner, answers([call]))) if resumable else [
            event async for event in runner.run_async(user_id="u", session_id="s", new_message=answers([call]))
        ]
    events = (await stored(runner)).events
    asked = [call.id for event in events for call in event.get_function_calls()]
    given = [response.id for event in events if event.author == "user" for response in event.get_function_responses()]
    assert given == asked and ran == {"a": 1, "b": 1}


async def test_an_answer_continues_the_agent_that_called_and_not_the_one_it_transferred_to() -> None:
    """The same order as google-adk: the answer is for the caller, although another agent has spoken since."""
    replies = [Reply(calls=[("pending", {"who": "root"}), ("transfer_to_agent", {"agent_name": "sub"})]), "from root"]
    sub = LlmAgent(name="sub", model=ScriptedLlm(replies=["from sub"]))
    root = LlmAgent(name="root", model=ScriptedLlm(replies=replies), tools=[TOOLS["pending"]], sub_agents=[sub])
    runner = runner_for(root, resumable=True)
    (call,) = await waiting(runner)
    events = await resume(runner, answers([call]))
    assert [(event.author, texts([event])) for event in events] == [("root", ["from root"]), ("root", [])]
    assert ran == {"root": 1}
