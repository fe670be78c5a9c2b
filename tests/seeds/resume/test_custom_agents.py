"""Seed: resume, "Agregar reanudación a Agentes personalizados": StoryFlowAgent runs, and resumes from each of its events."""

from __future__ import annotations

import pytest

from runtime.apps import App, ResumabilityConfig
from runtime.errors import ResumeError
from runtime.events import Event
from runtime.events.marks import is_replayed_checkpoint
from runtime.history.invocations import invocations
from runtime.runners import Runner
from runtime.sessions import InMemorySessionService, Session
from tests.agent_specs import message, shown
from tests.seeds.resume.story_flow import SPELLINGS, Spelling, StoryFlowAgent
from tests.seeds.resume.story_flow_as_written import StoryFlowAgentAsWritten

KEY = {"app_name": "story", "user_id": "u", "session_id": "s"}


def _runner(service: InMemorySessionService, spelling: Spelling, *, resumable: bool = True) -> Runner:
    kind = StoryFlowAgentAsWritten if spelling == "as written" else StoryFlowAgent
    config = ResumabilityConfig(is_resumable=resumable)
    return Runner(app=App(name="story", root_agent=kind("StoryFlow", spelling), resumability_config=config), session_service=service)


async def _stored(service: InMemorySessionService) -> Session:
    session = await service.get_session(**KEY)
    assert session is not None
    return session


async def _whole_run(spelling: Spelling, *, resumable: bool = True) -> Session:
    service = InMemorySessionService()
    await service.create_session(**KEY)
    runner = _runner(service, spelling, resumable=resumable)
    async for _ in runner.run_async(user_id="u", session_id="s", new_message=message("Tell me of a cat.")):
        pass
    return await _stored(service)


async def _killed_after(events: list[Event]) -> InMemorySessionService:
    service = InMemorySessionService()
    session = await service.create_session(**KEY)
    for event in events:
        await service.append_event(session, event.model_copy(deep=True))
    return service


async def _resume(service: InMemorySessionService, spelling: Spelling, invocation_id: str, *, at_most: int | None = None) -> list[Event]:
    """Resume, and stop after `at_most` events to simulate a second kill."""
    events = []
    stream = _runner(service, spelling).run_async(user_id="u", session_id="s", invocation_id=invocation_id)
    async for event in stream:
        events.append(event)
        if len(events) == at_most:
            break
    await stream.aclose()
    return events


def _work(events: list[Event]) -> list[dict[str, object]]:
    """Return the events without checkpoints that a resumed agent passed over again."""
    return [shown(event) for event in events if not is_replayed_checkpoint(event)]


@pytest.mark.rule("R8")
@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_story_flow_runs(spelling: Spelling) -> None:
    session = await _whole_run(spelling)
    assert session.state == {
        "current_story": "A cat sailed home.",
        "criticism": "Better.",
        "grammar_suggestions": "Grammar is good!",
        "tone_check_result": "negative",
    }
    steps = [event.actions.agent_state["step"] for event in session.events if event.author == "StoryFlow" and event.actions.agent_state]
    assert steps == [1, 2, 3, 4]
    assert session.events[-1].actions.end_of_agent


@pytest.mark.rule("C3", "R10")
@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_story_flow_resumes_from_every_event(spelling: Spelling) -> None:
    whole = await _whole_run(spelling)
    for kept in range(1, len(whole.events) + 1):
        service = await _killed_after(whole.events[:kept])
        await _resume(service, spelling, whole.events[0].invocation_id)
        session = await _stored(service)
        assert session.state == whole.state, f"resumed after {kept} events"
        assert _work(session.events) == _work(whole.events), f"resumed after {kept} events"


@pytest.mark.rule("C4")
async def test_a_second_kill_at_every_event_of_the_resumed_run_loses_and_repeats_nothing() -> None:
    whole = await _whole_run("positional")
    invocation_id = whole.events[0].invocation_id
    for kept in range(1, len(whole.events)):
        resumed = await _resume(await _killed_after(whole.events[:kept]), "positional", invocation_id)
        for second in range(1, len(resumed)):
            service = await _killed_after(whole.events[:kept])
            await _resume(service, "positional", invocation_id, at_most=second)
            await _resume(service, "positional", invocation_id)
            session = await _stored(service)
            assert session.state == whole.state, f"killed after {kept}, then after {second} more"
            assert _work(session.events) == _work(whole.events), f"killed after {kept}, then after {second} more"


@pytest.mark.rule("R10")
@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_every_spelling_works_in_an_app_that_is_not_resumable(spelling: Spelling) -> None:
    session = await _whole_run(spelling, resumable=False)
    assert session.state["current_story"] == "A cat sailed home."


@pytest.mark.rule("C9")
async def test_a_finished_story_yields_nothing_more() -> None:
    whole = await _whole_run("positional")
    assert await _resume(await _killed_after(whole.events), "positional", whole.events[0].invocation_id) == []


async def test_an_unknown_invocation_is_rejected() -> None:
    service = await _killed_after((await _whole_run("positional")).events)
    with pytest.raises(ResumeError, match="No user message available for resuming invocation: e-nowhere"):
        await _resume(service, "positional", "e-nowhere")


@pytest.mark.rule("I3")
async def test_an_agent_that_returned_early_without_its_end_is_interrupted() -> None:
    """The example returns without `end_of_agent` if there is no story."""
    service = InMemorySessionService()
    await service.create_session(**KEY)
    root = StoryFlowAgentAsWritten("StoryFlow", "as written")
    root.story_generator.output_key = "elsewhere"
    app = App(name="story", root_agent=root, resumability_config=ResumabilityConfig(is_resumable=True))
    async for _ in Runner(app=app, session_service=service).run_async(user_id="u", session_id="s", new_message=message("A cat?")):
        pass
    (found,) = invocations((await _stored(service)).events)
    assert (found.status, found.reason) == ("interrupted", "StoryFlow has not reached its end")
    assert found.checkpoint["StoryFlow"] == {"step": 1}
