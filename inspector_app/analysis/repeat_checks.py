"""Agents that do the same again: one call, one answer, handing over in turn, and loops that end by their limit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from inspector_app.analysis.finding import Finding
from inspector_app.analysis.session_facts import SessionFacts
from inspector_app.presentation.values import preview, visible
from runtime.events.kinds import text_of
from runtime.events.marks import ASKING_CALLS, TRANSFER_CALL

if TYPE_CHECKING:
    from runtime.events import Event

LEAST = 3  # times in one invocation: a second time may be a person's wish, or one retry
_LONGEST = 60  # characters of arguments or an answer in a sentence
_KIND = "the same again"


def repeated_calls(facts: SessionFacts) -> Iterator[Finding]:
    """Find calls that an agent made again with the same arguments, though each had the same result as the first.

    A call whose result changed is not reported: asking for the progress of a job is such a call.
    """
    for events in facts.standing:
        results = {
            response.id: _written([response.response, event.actions.state_delta, event.actions.artifact_delta])
            for event in events
            for response in event.get_function_responses()
            if response.id
        }
        made: dict[tuple[str, ...], list[tuple[Event, str]]] = {}
        for event in events:
            for call in event.get_function_calls():
                if call.id in results and call.name not in ASKING_CALLS and call.name != TRANSFER_CALL:
                    what = event.author, event.branch or "", f"{call.name}({preview(call.args or {}, _LONGEST)[1:-1]})", _written(call.args)
                    made.setdefault(what, []).append((event, results[call.id]))
        for (_, _, shown, _), times in made.items():
            if len(times) >= LEAST and len({result for _, result in times}) == 1:
                repeats = [event for event, _ in times[1:]]
                yield facts.finding(
                    _KIND,
                    "warning",
                    times[LEAST - 1][0].id,
                    f"{visible(shown)} was called {len(times)} times with the same arguments, and had the same result each time.",
                    f"The model learns nothing from it, and each of these answers is paid for.{facts.paid(repeats)}",
                    "Let the tool's result say what to do next, or tell the agent in its instruction when to stop.",
                )


def repeated_answers(facts: SessionFacts) -> Iterator[Finding]:
    """Find answers that an agent gave again, word for word."""
    for events in facts.standing:
        said: dict[tuple[str, str, str], list[Event]] = {}
        for event in events:
            if event.author != "user" and _is_answer(event):
                text = text_of(event).strip()
                said.setdefault((event.author, event.branch or "", text), []).append(event)
        for (author, _, text), times in said.items():
            if len(times) >= LEAST:
                yield facts.finding(
                    _KIND,
                    "warning",
                    times[LEAST - 1].id,
                    f"{visible(author)} gave the answer {preview(text, _LONGEST)} {len(times)} times in this invocation.",
                    f"Nothing that happened in between changed what the agent says.{facts.paid(times[1:])}",
                    "Read the requests of the first and the second one: the agent does not see, or does not use, what is new.",
                )


def handovers_in_turn(facts: SessionFacts) -> Iterator[Finding]:
    """Find two agents that hand over to each other, and do nothing else in between."""
    for events in facts.standing:
        chain: list[Event] = []
        for event in events:
            target = event.actions.transfer_to_agent
            if target and chain and (event.author, target) == (chain[-1].actions.transfer_to_agent, chain[-1].author):
                chain.append(event)
            elif target or _does_something(event):
                yield from _in_turn(facts, events, chain)
                chain = [event] if target else []
        yield from _in_turn(facts, events, chain)


def _does_something(event: Event) -> bool:
    return _is_answer(event) or any(response.name != TRANSFER_CALL for response in event.get_function_responses())


def _is_answer(event: Event) -> bool:
    return not (event.partial or event.get_function_calls() or event.get_function_responses()) and bool(text_of(event).strip())


def _in_turn(facts: SessionFacts, events: Sequence[Event], chain: Sequence[Event]) -> Iterator[Finding]:
    if len(chain) >= LEAST:
        between = events[events.index(chain[0]) : events.index(chain[-1]) + 1]
        one, other = visible(chain[0].author), visible(chain[1].author)
        yield facts.finding(
            _KIND,
            "warning",
            chain[LEAST - 1].id,
            f"{one} and {other} handed over to each other {len(chain)} times in turn, and did nothing else.",
            f"Each of them takes the other one to be responsible.{facts.paid(between)}",
            "Say in their descriptions which of them does what, or set disallow_transfer_to_parent or disallow_transfer_to_peers.",
        )


def loops_at_their_limit(facts: SessionFacts) -> Iterator[Finding]:
    """Find loops that no agent ended: their limit did. Only the checkpoints of resumable apps tell."""
    for events in facts.standing:
        rounds: dict[tuple[str, str | None], int] = {}
        escalated: set[tuple[str, str | None]] = set()
        for event in events:
            loop, looped = (event.author, event.branch), (event.actions.agent_state or {}).get("times_looped")
            if event.actions.escalate:
                escalated |= rounds.keys()
            if isinstance(looped, int):
                rounds[loop] = looped + 1
                escalated.discard(loop)
            elif event.actions.end_of_agent and loop in rounds and loop not in escalated:
                yield facts.finding(
                    "loop at its limit",
                    "note",
                    event.id,
                    f"The loop {visible(event.author)} ended by its limit after {rounds[loop]} rounds: no agent ended it.",
                    "What the loop was to reach may not be reached.",
                    "If its last answer is not good enough, raise max_iterations, or let an agent of the loop call exit_loop.",
                )
            if event.actions.end_of_agent:
                rounds.pop(loop, None)


def _written(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=repr)
