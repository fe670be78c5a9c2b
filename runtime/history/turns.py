"""One turn of an LlmAgent: its calls, and which of them are answered."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from runtime.events.marks import (
    ANSWER,
    CALLED_WITHOUT_RESULT,
    CREDENTIAL_CALL,
    REQUEST_CALLS,
    SAME_MODEL_CALL,
    TOOLSET_CREDENTIAL,
    TRANSFER_CALL,
    agent_key,
    asks_for_inner_run,
    inner_run,
    is_replayed_checkpoint,
    is_state_edit,
)
from runtime.history.agent_places import AgentPlaces
from runtime.history.agent_tree import AgentTree
from runtime.history.checkpoints import with_keys_as_authors

if TYPE_CHECKING:
    from google.genai import types

    from runtime.events.event import Event


def events_of_call(agent: AgentTree, events: Sequence[Event], branch: str | None) -> list[Event]:
    """Return the events since an agent was called: after its ancestors' last checkpoint, on its branch, including answers from outside.

    Their authors are the agents' keys.

    Args:
        agent: the called agent.
        events: the invocation's events, in commit order.
        branch: the agent's branch.
    """
    places = AgentPlaces(agent)
    above = {places.key(ancestor) for ancestor in agent.ancestors()}
    found: list[Event] = []
    for event in with_keys_as_authors(events, places):
        if is_replayed_checkpoint(event) or is_state_edit(event):
            continue
        if event.author in above and event.actions.agent_state is not None:
            found.clear()
        elif event.branch == branch or (event.author == "user" and _concerns(event, found)):
            found.append(event)
    return found


def _concerns(event: Event, events: Sequence[Event]) -> bool:
    """Return whether a person's message of another branch concerns an agent: unless it only answers calls of others."""
    answered = {response.id for response in event.get_function_responses()}
    if not answered or any(part.text for part in (event.content and event.content.parts) or ()):
        return True
    return any(call.id in answered for earlier in events for call in earlier.get_function_calls())


def transferred_to(agent_key: str, events: Sequence[Event]) -> str | None:
    """Return the name of the agent that this one last transferred to, if its own turn has not continued since.

    Args:
        agent_key: the key of the agent that may have transferred.
        events: the events of its call.
    """
    if events and events[-1].author == "user" and _answers_call_of(agent_key, events):
        return None  # its own call was answered, so it continues
    said = [event for event in events if event.author != "user"]
    is_at_transfer = bool(said) and said[-1].author == agent_key  # otherwise, another agent has taken over
    given: set[str | None] = set()
    for event in reversed(said):
        if event.author != agent_key:
            continue
        calls, responses = event.get_function_calls(), event.get_function_responses()
        if is_at_transfer and any(call.id not in given for call in calls):
            return None  # they run first
        # The result of a transfer call decides, as a callback may have refused the transfer.
        is_decided = any(call.name == TRANSFER_CALL and call.id in given for call in calls)
        if event.actions.transfer_to_agent and not is_decided:
            return event.actions.transfer_to_agent
        if is_at_transfer and not responses:
            return None
        given.update(response.id for response in responses)
    return None


def _answers_call_of(agent_key: str, events: Sequence[Event]) -> bool:
    answered = {response.id for response in events[-1].get_function_responses()}
    own = [event for event in events if event.author == agent_key]
    return any(call.id in answered for event in own for call in event.get_function_calls())


def own_transfer(event: Event) -> str | None:
    """Return the target of a transfer that a call event itself orders; None if it has none, or if one of its calls makes it."""
    return None if any(call.name == TRANSFER_CALL for call in event.get_function_calls()) else event.actions.transfer_to_agent


@dataclass(slots=True)
class Turn:
    """The status of an LlmAgent's turn.

    Attributes:
        to_run: calls without a committed result; they are executed, perhaps for the second time.
        answers: call id → a person's answer to the request that the call made; such a call is executed again.
        asked: calls in `to_run` whose request to a person is committed and not answered; they make no second one.
        to_ask: results whose tools requested a confirmation or credential, with no committed request to a person.
        calls: the model's last calls.
        waiting: calls that wait for an answer from outside: long-running ones, requests for a confirmation or credential, and those of
            agents that run as tools.
        pauses: whether the turn needs an answer from outside even after everything in `to_run` has returned.
        answered: whether the agent's final response is committed, so that no model call is needed.
        set_answer: a committed `set_model_response` answer that is not yet committed as the agent's text; JSON text.
        transfer: the agent that takes over after all calls have results: the call event itself, or a call in its result, says so.
    """

    to_run: list[types.FunctionCall] = field(default_factory=list)
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    to_ask: list[Event] = field(default_factory=list)
    calls: list[types.FunctionCall] = field(default_factory=list)
    waiting: list[types.FunctionCall] = field(default_factory=list)
    pauses: bool = False
    answered: bool = False
    set_answer: str | None = None
    transfer: str | None = None


def read_turn(events: Sequence[Event], agent_key: str) -> Turn:
    """Read the status of an agent's turn.

    Args:
        events: the events since the agent was called, on its branch, including answers from outside.
        agent_key: the agent's key.

    Returns:
        The open calls of its last call event, or that it has answered.
    """
    turn = Turn()
    start = _last_call_event(events, agent_key)
    if start is None:
        turn.waiting = _requests_for_toolsets(events)
        turn.pauses = bool(turn.waiting)
        turn.answered = not turn.pauses and _has_answered(events, agent_key)
        return turn
    said = [event for event in events[start:] if event.author == agent_key]
    own = [event for event in said if not asks_for_inner_run(event)]
    turn.calls = [call for event in own for call in event.get_function_calls() if call.name not in REQUEST_CALLS]
    turn.transfer = next(filter(None, (own_transfer(event) for event in own if event.get_function_calls())), None)
    calls = {call.id: call for call in turn.calls}
    long_running = {call_id for event in said for call_id in event.long_running_tool_ids or ()}
    given: set[str | None] = set()  # ids with a result by the agent
    from_outside: dict[str | None, dict[str, Any]] = {}
    requests: dict[str | None, _Request] = {}
    direct: dict[str, dict[str, Any]] = {}  # call id → the answer to the call's own request
    for event in events[start + 1 :]:
        given.update((event.custom_metadata or {}).get(CALLED_WITHOUT_RESULT, ()))
        inner = inner_run(event)
        for call in event.get_function_calls():
            if inner is not None:
                requests[call.id] = _Request(call, inner["call"], is_inner=True)
                given.add(inner["call"])
                turn.answers.pop(inner["call"], None)
            elif call.name in REQUEST_CALLS:
                requests[call.id] = _Request(call, requested_call_id(call))
        for response in event.get_function_responses():
            if event.author == "user":
                from_outside[response.id] = response.response or {}
            else:
                given.add(response.id)
                turn.answers.pop(response.id or "", None)
                if inner is None:  # a result of an agent's run: nothing of it waits
                    requests = {
                        each: request for each, request in requests.items() if not (request.is_inner and request.about == response.id)
                    }
        if event.author == "user":
            _collect_answers(turn.answers, direct, requests, from_outside)
    turn.asked = {request.about for request in requests.values() if request.about and request.about not in given}
    for call_id, call in calls.items():
        if call_id in turn.answers or (call_id not in given and call_id not in from_outside):
            turn.to_run.append(call)
        elif call_id in long_running and call_id not in from_outside:
            turn.waiting.append(call)
    turn.waiting.extend(request.call for request in requests.values())
    turn.to_ask = without_request(events[start:])
    turn.pauses = bool(turn.waiting or turn.to_ask) or any(call.id in long_running for call in turn.to_run)
    if turn.to_run and turn.transfer is None:  # one of the other calls has transferred
        turn.transfer = next(
            (target for event in said if event.get_function_responses() and (target := event.actions.transfer_to_agent)), None
        )
    turn.answered = not turn.to_run and not turn.pauses and _has_answered(events[start:], agent_key)
    turn.set_answer = next(filter(None, map(answer_set, events[start + 1 :])), None)
    return turn


@dataclass(frozen=True, slots=True)
class _Request:
    """A request to a person.

    Attributes:
        call: the request.
        about: the call that is executed again when it is answered.
        is_inner: whether an agent that runs as a tool asked, in the call; the agent reads the answer itself.
    """

    call: types.FunctionCall
    about: str | None
    is_inner: bool = False


def _collect_answers(
    answers: dict[str, dict[str, Any]],
    direct: dict[str, dict[str, Any]],
    requests: dict[str | None, _Request],
    given: dict[str | None, dict[str, Any]],
) -> None:
    """Move new answers to the calls that they are for; a call whose agent asked keeps the answer to its own request."""
    for request_id in [request_id for request_id in requests if request_id in given]:
        request = requests.pop(request_id)
        if request.about:
            if not request.is_inner:
                direct[request.about] = given[request_id]
            answers[request.about] = direct.get(request.about, {})


def closes_turn(event: Event) -> bool:
    """Return whether an event with content ends its agent's turn: after it, the model is not called again.

    Unlike for `is_final_response`, an answer that also escalates does.
    """
    if event.actions.skip_summarization or event.long_running_tool_ids:
        return True
    if event.partial or event.get_function_calls() or event.get_function_responses():
        return False
    last = event.content.parts[-1] if event.content and event.content.parts else None
    return last is None or not (last.executable_code or last.code_execution_result)  # after code its result follows, then an answer


def answer_set(event: Event) -> str | None:
    """Return the answer that a result event accepted, as JSON text; None if it accepted none."""
    if event.actions.set_model_response is not None:  # by google-adk 2.x
        return json.dumps(event.actions.set_model_response, ensure_ascii=False)
    accepted = (event.custom_metadata or {}).get(ANSWER) or {}
    for response in event.get_function_responses() if accepted else ():
        if response.id == accepted["call"] and response.response is not None:
            # A result that is no object was wrapped in one.
            answer = response.response.get("result", response.response) if accepted["wrapped"] else response.response
            return json.dumps(answer, ensure_ascii=False)
    return None


def without_request(events: Iterable[Event]) -> list[Event]:
    """Return the results whose tools asked for a confirmation or credential, but whose request to a person was not committed.

    A request is committed before the result that asks for it, as in google-adk. In sessions of earlier versions it comes after.

    Args:
        events: the invocation's events, in commit order.
    """
    asking: dict[str, Event] = {}
    made: set[str] = set()  # requests whose result is still to come
    for event in events:
        requested = [*event.actions.requested_tool_confirmations, *event.actions.requested_auth_configs]
        for response in event.get_function_responses():
            if response.id not in requested:
                asking.pop(response.id or "", None)
                made.discard(response.id or "")
        for call_id in requested:
            if call_id in made:
                made.discard(call_id)
            else:
                asking[call_id] = event
        for call in event.get_function_calls():
            call_id = requested_call_id(call) or ""
            if call.name in REQUEST_CALLS and asking.pop(call_id, None) is None:
                made.add(call_id)
    return list({event.id: event for event in asking.values()}.values())


def requested_call_id(request: types.FunctionCall) -> str | None:
    """Return the id of the call that a confirmation or credential request was made for."""
    args = request.args or {}
    original = args.get("originalFunctionCall") or {}
    found = original.get("id") if isinstance(original, dict) else None
    named = found or args.get("functionCallId")
    return named if isinstance(named, str) else None


def asked_name(call: types.FunctionCall) -> str:
    """Return the name of the tool that a call waits for: for a confirmation, that of the call to confirm."""
    original = (call.args or {}).get("originalFunctionCall") if call.name in REQUEST_CALLS else None
    name = original.get("name") if isinstance(original, dict) else None
    return name if name and isinstance(name, str) else call.name or "?"


def asked_on_branch(events: Sequence[Event], parallel_key: str, branch: str) -> set[str]:
    """Return the calls that a person has to answer, or has answered, on one branch of a parallel agent and below it.

    Args:
        events: the invocation's events, in commit order.
        parallel_key: the parallel agent; events before its last checkpoint do not count.
        branch: the branch.
    """
    asked: set[str] = set()
    for event in reversed(events):
        if event.actions.agent_state is not None and agent_key(event) == parallel_key:
            break
        if event.branch == branch or (event.branch or "").startswith(f"{branch}."):
            asked |= event.long_running_tool_ids or set()
    return asked


def answered(events: Iterable[Event]) -> set[str | None]:
    """Return the calls that a person has answered."""
    return {response.id for event in events if event.author == "user" for response in event.get_function_responses()}


def asks_for_toolset(call: types.FunctionCall) -> bool:
    """Return whether a call requests the credential of a toolset, so that no other call waits for its answer."""
    return call.name == CREDENTIAL_CALL and (requested_call_id(call) or "").startswith(TOOLSET_CREDENTIAL)


def _requests_for_toolsets(events: Sequence[Event]) -> list[types.FunctionCall]:
    """Return the requests for toolsets' credentials without an answer."""
    given = answered(events)
    asking = [event for event in events if not asks_for_inner_run(event)]
    return [call for event in asking for call in event.get_function_calls() if asks_for_toolset(call) and call.id not in given]


def _last_call_event(events: Sequence[Event], agent_key: str) -> int | None:
    """Return the index of the agent's last event with calls, or of the first response of the model call that it belongs to."""
    belongs = False
    for index in range(len(events) - 1, -1, -1):
        event = events[index]
        calls = event.get_function_calls()
        own = [call for call in calls if call.name not in REQUEST_CALLS and not asks_for_inner_run(event)]
        if event.author != agent_key or event.content is None or event.get_function_responses() or len(own) < len(calls):
            continue
        if belongs or own:
            belongs = bool((event.custom_metadata or {}).get(SAME_MODEL_CALL))
            if not belongs:
                return index
    return None


def _has_answered(events: Sequence[Event], agent_key: str) -> bool:
    """Return whether the last content by the agent, or by a person, is the agent's final response.

    Other agents' events do not count: a custom agent without checkpoints that starts over repeats its own events first.
    """
    said = [event for event in events if event.content and event.author in (agent_key, "user")]
    return bool(said) and said[-1].author == agent_key and closes_turn(said[-1])
