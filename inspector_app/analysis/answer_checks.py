"""Answers of models that are empty or were cut off, and answers of people that had no effect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from inspector_app.analysis.finding import Finding
from inspector_app.analysis.session_facts import SessionFacts
from inspector_app.presentation.values import visible
from runtime.events.final_response import says_something
from runtime.events.kinds import MALFORMED, RECITATIONS, REFUSALS, cut_off, is_workflow_output, kind_of
from runtime.events.marks import CONFIRMATION_CALL, CREDENTIAL_CALL, REQUEST_CALLS
from runtime.history.invocations import is_empty_answer
from runtime.history.turns import asked_name, requested_call_id
from runtime.models.llm_response import NO_CONTENT

if TYPE_CHECKING:
    from google.genai import types

    from runtime.events import Event

_NO_CONTENT = frozenset({NO_CONTENT, "UNKNOWN_ERROR"})  # codes of an answer that ended without content


def empty_answers(facts: SessionFacts) -> Iterator[Finding]:
    """Find answers in which the model said nothing, and calls no tool, and the agent did not answer later in the invocation."""
    for invocation in facts.invocations:
        if invocation.status == "rewound":
            continue
        last = invocation.last_event_id if invocation.status == "finished" else None
        own = {event.author: event for event in facts.by_invocation[invocation.invocation_id] if _speaks(event)}  # the last of each agent
        for event in own.values():
            if cut_off(event) or not (
                _is_silent(event) and (event.id == last or event.error_code or event.usage_metadata or event.finish_reason)
            ):
                continue
            yield facts.finding(
                "empty answer",
                "warning",
                event.id,
                f"{visible(event.author)} ended its turn with an empty answer.",
                f"The person sees nothing, though the request was paid for.{facts.paid([event])}",
                "Read the request of this call, and tell the agent in its instruction to answer after a tool's result.",
            )


def _speaks(event: Event) -> bool:
    return event.author != "user" and (event.content is not None or _is_silent(event))


def _is_silent(event: Event) -> bool:
    if event.error_code in _NO_CONTENT:
        return not says_something(event.content)
    ended = getattr(event.finish_reason, "value", event.finish_reason) == "STOP" and event.content is None
    return is_empty_answer(event) or (ended and kind_of(event) == "empty" and not event.turn_complete)


def answers_cut_off(facts: SessionFacts) -> Iterator[Finding]:
    """Find answers that the model did not end itself."""
    for event in facts.events:
        reason = cut_off(event)
        if reason is None or event.invocation_id in facts.rewound:
            continue
        what, advice = _why_cut_off(reason)
        yield facts.finding(
            "answer cut off",
            "warning",
            event.id,
            what,
            f"{'Its end' if says_something(event.content) else 'The answer'} is missing, also from what later requests hold."
            f"{facts.paid([event])}",
            advice,
        )


def _why_cut_off(reason: str) -> tuple[str, str]:
    """Return what happened to an answer, and what to do about it."""
    shown = visible(reason)
    if reason == "MAX_TOKENS":
        return "The answer was cut off at its token limit.", "Raise max_output_tokens, or ask for a shorter answer."
    if reason in REFUSALS:
        return f"The model refused the answer: {shown}.", "Read the request: its text or the answer's broke a rule of the provider."
    if reason in RECITATIONS:
        return (
            f"The model stopped as it was repeating a known text: {shown}.",
            "Ask for a summary in own words, or for a shorter quotation.",
        )
    if reason in MALFORMED:
        return f"The model's call could not be read: {shown}.", "Send it again. If it happens often, simplify the tool's declaration."
    return f"The model ended the answer early: {shown}.", "Read the answer and its request."


def answers_without_effect(facts: SessionFacts) -> Iterator[Finding]:
    """Find what a person answered and no agent acted on, and questions that are open in an invocation that has ended.

    google-adk loses such answers in sequences and loops: the invocation looks finished, and a confirmed call never ran.
    """
    made = {call.id for event in facts.events for call in event.get_function_calls()}
    results = _results(facts)
    for event in facts.events:
        if event.invocation_id in facts.rewound:
            continue
        for call in event.get_function_calls():
            is_request = call.name in REQUEST_CALLS
            if call.id not in (event.long_running_tool_ids or ()) or (is_request and requested_call_id(call) not in made):
                continue
            what = _lost(facts, event, call, results, is_request=is_request)
            if what is not None:
                yield facts.finding(
                    "answer without effect",
                    "warning" if _may_resume(facts, event) else "error",
                    event.id,
                    what,
                    "What was asked for has not been done, and no later message says so.",
                    "Resume the invocation."
                    if _may_resume(facts, event)
                    else "Fork the session before the call, and send the message again.",
                )


_Results = dict[str | None, list[tuple[int, "types.FunctionResponse"]]]  # id of a call → place of the event and result, in order


def _results(facts: SessionFacts) -> _Results:
    found: _Results = {}
    for place, event in enumerate(facts.events):
        for response in event.get_function_responses():
            found.setdefault(response.id, []).append((place, response))
    return found


def _lost(facts: SessionFacts, event: Event, call: types.FunctionCall, results: _Results, *, is_request: bool) -> str | None:
    """Return what became of a call that a person has to answer, if its answer is lost; None if it is not."""
    name = visible(asked_name(call))
    answered = [(place, response) for place, response in results.get(call.id, ()) if facts.events[place].author == "user"]
    if not answered:
        has_ended = any(each.invocation_id == event.invocation_id and each.status == "finished" for each in facts.invocations)
        return f"{name} was never answered, and its invocation has ended." if is_request and has_ended else None
    place, response = answered[-1]
    if not is_request:
        speaks = (later for later in reversed(range(len(facts.events))) if _is_spoken(facts.events[later]))
        return None if next(speaks, -1) > place else f"The answer to {name} has reached no agent."
    if any(later > place for later, _ in results.get(requested_call_id(call), ())):
        return None
    if call.name == CREDENTIAL_CALL:
        return f"The credential for {name} was given, and {name} never ran."
    confirmed = call.name == CONFIRMATION_CALL and (response.response or {}).get("confirmed")
    return f"{name} was confirmed and never ran." if confirmed else f"{name} was rejected, and the model has not learnt of it."


def _is_spoken(event: Event) -> bool:
    return event.author != "user" and (event.content is not None or is_workflow_output(event))


def _may_resume(facts: SessionFacts, event: Event) -> bool:
    """Return whether the invocation of an event is the newest one, and has not ended."""
    return event.invocation_id in facts.unfinished and event.invocation_id == facts.events[-1].invocation_id
