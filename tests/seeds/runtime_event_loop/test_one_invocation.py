"""Seed: runtime-event-loop, "Cómo Funciona: Una Invocación Simplificada": its twenty steps, in order."""

from __future__ import annotations

from typing import Any

from runtime.agents import LlmAgent, ToolContext
from runtime.models import LlmRequest
from runtime.models.scripted_llm import Reply, ScriptedLlm
from tests.agent_specs import message
from tests.seeds.running import Recording, runner_for, stored, texts


class Journal(Recording):
    """Also records the commits of calls and results."""

    async def _commit(self, session: Any, event: Any, temp: Any) -> None:
        await super()._commit(session, event, temp)
        self.journal[-1] = f"commit {_what(event)}"


def _what(event: Any) -> str:
    if event.get_function_calls():
        return "call"
    return "result" if event.get_function_responses() else texts([event])[0]


async def test_the_twenty_steps() -> None:
    service = Journal()
    journal = service.journal

    def calls(request: LlmRequest) -> Reply:
        journal.append("the model is called")
        return Reply(calls=[("MyTool", {"country": "Francia"})])

    def answers(request: LlmRequest) -> str:
        response = request.contents[-1].parts[0].function_response
        journal.append(f"the model is called with {response.response}")
        return "La capital es Paris."

    def MyTool(country: str, tool_context: ToolContext) -> dict[str, str]:
        journal.append("the tool runs")
        tool_context.state["asked"] = country
        return {"result": "Paris"}

    agent = LlmAgent(name="Agent_Llm", model=ScriptedLlm(replies=[calls, answers]), tools=[MyTool])
    runner = runner_for(agent, service)
    events = []
    async for event in runner.run_async(user_id="u", session_id="s", new_message=message("¿Cuál es la capital de Francia?")):
        events.append(event)
        journal.append(f"yield {_what(event)}")
    assert journal == [
        "commit ¿Cuál es la capital de Francia?",  # 1, 2
        "the model is called",  # 3, 4
        "commit call",  # 5 to 7
        "yield call",
        "the tool runs",  # 8 to 10
        "commit result",  # 11 to 13
        "yield result",
        "the model is called with {'result': 'Paris'}",  # 14, 15
        "commit La capital es Paris.",  # 16 to 18
        "yield La capital es Paris.",
    ]
    assert {event.author for event in events} == {"Agent_Llm"}
    assert events[1].content.role == "user"
    assert events[1].actions.state_delta == {"asked": "Francia"}
    assert [event.is_final_response() for event in events] == [False, False, True]
    session = await stored(runner)
    assert len({event.invocation_id for event in session.events}) == 1
    assert session.state == {"asked": "Francia"}
