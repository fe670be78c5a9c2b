"""A session's invocations: which are finished, paused until a person answers, interrupted, or rewound."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from runtime.events.final_response import says_something
from runtime.events.kinds import is_workflow_output
from runtime.events.marks import CONFIRMATION_CALL, CREDENTIAL_CALL, TOOLSET_CREDENTIAL, agent_key, is_progress, is_state_edit
from runtime.history.checkpoints import read_checkpoints
from runtime.history.turns import asks_for_toolset, closes_turn, read_turn, requested_call_id, without_request
from runtime.sessions.recorded_end import RecordedEnd

if TYPE_CHECKING:
    from google.genai import types

    from runtime.events.event import Event

Status = Literal["finished", "paused", "interrupted", "stopped", "failed", "rewound", "unfinished"]
Broken = Literal["interrupted", "stopped", "failed"]
BROKEN: tuple[Broken, ...] = ("interrupted", "stopped", "failed")  # how an invocation is that can be resumed
PendingKind = Literal["confirmation", "long_running", "credential", "interrupted"]
_NO_ENDS: Mapping[str, RecordedEnd] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class LastCheckpoint:
    """The place from which an invocation resumes.

    Attributes:
        agent: the agent of the last checkpoint or end.
        event_id, timestamp: its event and commit time (epoch seconds).
    """

    agent: str
    event_id: str
    timestamp: float


@dataclass(frozen=True, slots=True)
class PendingItem:
    """A request that a person has to answer, or an interrupted invocation.

    Attributes:
        kind: what it is; `interrupted` means that the invocation can be resumed.
        invocation_id: its invocation.
        call_id: the function call to answer; None for `interrupted`.
        name: the tool's name (for a confirmation or credential, the tool that it is for); None for `interrupted`.
        args: the tool's arguments.
        hint: the question, if there is one.
        event_id: the event that asks; the invocation's last one for `interrupted`.
        author: the agent that asks, by its place if it shares its name with others.
        payload: the form that a confirmation lets the person fill in, with its present values.
        reason: why the invocation has not ended, a phrase.
        last_time: when the invocation's last event was committed (epoch seconds).
        asked_time: when the event that asks was committed (epoch seconds).
        checkpoint: the invocation's last checkpoint; None if it has none.
        so_far: the newest receipt or progress of a long-running call; None if it left none.
        auth_config: the configuration in a credential request.
        is_past: whether the conversation has gone on since, with another invocation.
        status: the invocation's, for `interrupted`.
    """

    kind: PendingKind
    invocation_id: str
    call_id: str | None = None
    name: str | None = None
    args: dict[str, Any] = field(default_factory=dict)
    hint: str | None = None
    event_id: str | None = None
    author: str | None = None
    payload: Any = None
    # Not compared: a change here does not make it another item, and a person may be writing the answer.
    reason: str = field(default="", compare=False)
    last_time: float = field(default=0.0, compare=False)
    asked_time: float = field(default=0.0, compare=False)
    checkpoint: LastCheckpoint | None = field(default=None, compare=False)
    so_far: dict[str, Any] | None = None
    auth_config: dict[str, Any] = field(default_factory=dict)
    is_past: bool = field(default=False, compare=False)
    status: Broken = field(default="interrupted", compare=False)


@dataclass(frozen=True, slots=True)
class Invocation:
    """One invocation, read from its events alone.

    Attributes:
        invocation_id: its id.
        status: `finished`; `paused` (a call waits for an answer from outside); `interrupted`, or how that is known to have happened,
            `stopped` or `failed`; `rewound`; `unfinished`, if another program may drive it.
        reason: a phrase that explains the status, and does not repeat it.
        first_event_id, last_event_id: its first and last event.
        checkpoint: agent name, or place if agents share the name → its last checkpoint, or "end".
        pending: items that wait for a person.
        is_turn: whether it is a part of the conversation, and no edit of the state, rewind, summary or late result.
    """

    invocation_id: str
    status: Status
    reason: str
    first_event_id: str
    last_event_id: str
    checkpoint: dict[str, dict[str, Any] | Literal["end"]]
    pending: tuple[PendingItem, ...] = ()
    is_turn: bool = True

    @property
    def can_be_resumed(self) -> bool:
        """Whether it broke off; one that waits for an answer is continued by the answer."""
        return self.status in BROKEN

    @property
    def is_open(self) -> bool:
        """Whether it can be continued, by a resume or an answer."""
        return self.status == "paused" or self.can_be_resumed

    @property
    def word(self) -> str:
        """The word for its status that people read."""
        return word_for(self.status)

    @property
    def is_past(self) -> bool:
        """Whether it did not end, and the conversation has gone on since; see `with_past`."""
        return any(item.is_past for item in self.pending)


def word_for(status: str) -> str:
    """Return the word that people read for a status."""
    return "waiting" if status == "paused" else status


def invocations(
    events: Sequence[Event], only: Container[str] | None = None, *, ends: Mapping[str, RecordedEnd] = _NO_ENDS
) -> list[Invocation]:
    """Return a session's invocations in the order of their first events.

    Args:
        events: all events of the session, in commit order.
        only: ids of the wanted invocations; None: all.
        ends: recorded ends by invocation id; see `with_recorded_ends`.
    """
    groups: dict[str, list[Event]] = {}
    for event in events:
        groups.setdefault(event.invocation_id, []).append(event)
    rewound = rewound_invocations((event.invocation_id, event.actions.rewind_before_invocation_id) for event in events)
    answered = {response.id for event in events if event.author == "user" for response in event.get_function_responses()}
    stray = {call_id for group in groups.values() for call_id in stray_results(group)}
    found = [
        read_invocation(group, is_rewound=name in rewound, answered=answered, stray=stray)
        for name, group in groups.items()
        if only is None or name in only
    ]
    return with_past(with_recorded_ends(found, ends))


def with_past(found: Sequence[Invocation]) -> list[Invocation]:
    """Return invocations whose pending items say whether the conversation has gone on.

    A session's state is that of its newest invocation. What an earlier one still waits for is a fact beside it: a first message that failed
    for want of a key does not make a session interrupted for ever.

    Args:
        found: a session's invocations, in the order of their first events.
    """
    newest = max((place for place, each in enumerate(found) if each.is_turn and each.status != "rewound"), default=0)
    return [as_past(each) if each.pending and place < newest else each for place, each in enumerate(found)]


def as_past(invocation: Invocation) -> Invocation:
    """Return an invocation that another one has followed."""
    return replace(invocation, pending=tuple(replace(item, is_past=True) for item in invocation.pending))


def present(items: Iterable[PendingItem]) -> list[PendingItem]:
    """Return the pending items that are the state of their session: those of its newest invocation."""
    return [item for item in items if not item.is_past]


def earlier_unanswered(items: Iterable[PendingItem]) -> str:
    """Return how many earlier messages have no answer, such as "1 earlier message without an answer"; empty if all have."""
    count = len({item.invocation_id for item in items if item.is_past})
    return "" if count == 0 else f"{count:,} earlier message{'' if count == 1 else 's'} without an answer"


def is_turn(events: Iterable[Event], stray: Set[str | None] = frozenset()) -> bool:
    """Return whether an invocation is a part of the conversation.

    Args:
        events: its events.
        stray: ids of function calls of the session whose result is in another invocation than the call.
    """
    said = (event for event in events if event.content is not None and not is_state_edit(event) and not is_progress(event))
    return any(not (ids := _response_ids(event)) or not stray >= set(ids) for event in said)


def stray_results(events: Sequence[Event]) -> set[str | None]:
    """Return the ids of the calls that an invocation has a result for, but did not make.

    google-adk 1.0, and versions in other languages, give the joint result of parallel calls an invocation id of its own, or none.

    Args:
        events: the invocation's events.
    """
    made = {call.id for event in events for call in event.get_function_calls()}
    return {response.id for event in events if event.author != "user" for response in event.get_function_responses()} - made


def with_recorded_ends(found: Sequence[Invocation], ends: Mapping[str, RecordedEnd]) -> list[Invocation]:
    """Return invocations with the status that was recorded when their last run ended.

    A record counts as long as the invocation has no newer event, was not rewound, and waits for no answer.

    Args:
        found: invocations, read from their events.
        ends: recorded ends by invocation id.
    """
    return [_with_end(each, ends[each.invocation_id]) if each.invocation_id in ends else each for each in found]


def _with_end(found: Invocation, end: RecordedEnd) -> Invocation:
    if found.last_event_id != end.last_event_id or found.status not in ("finished", "interrupted"):
        return found
    if end.status == "finished" or end.status == "unfinished":
        return replace(found, status=end.status, reason=end.reason, pending=())
    ended = PendingItem("interrupted", found.invocation_id, event_id=found.last_event_id, last_time=end.at, asked_time=end.at)
    waiting = found.pending or (ended,)
    pending = tuple(replace(item, reason=end.reason, status=end.status) for item in waiting)
    return replace(found, status=end.status, reason=end.reason, pending=pending)


def pending_items(events: Sequence[Event]) -> list[PendingItem]:
    """Return a session's items that wait for a person, the newest last."""
    return [item for invocation in invocations(events) for item in invocation.pending]


def rewound_invocations(steps: Iterable[tuple[str, str | None]]) -> set[str]:
    """Return the ids of the invocations that were taken back.

    Args:
        steps: each event's invocation and the invocation that it rewinds to, in commit order.
    """
    gone: set[str] = set()
    present: dict[str, None] = {}
    for invocation_id, target in steps:
        if target in present:
            names = list(present)
            for name in names[names.index(target) :]:
                gone.add(name)
                del present[name]
        else:
            present.setdefault(invocation_id)
    return gone


def read_invocation(
    events: Sequence[Event], *, is_rewound: bool, answered: Set[str | None], stray: Set[str | None] = frozenset()
) -> Invocation:
    """Return one invocation, read from its events.

    Args:
        events: the invocation's events, in commit order.
        is_rewound: whether it was taken back.
        answered: ids of all function calls of the session that the user answered.
        stray: ids of function calls of the session whose result is in another invocation.
    """
    found = read_checkpoints(events, None)
    checkpoint: dict[str, dict[str, Any] | Literal["end"]] = {}
    for event in events:
        key = agent_key(event)
        if key in found.states:
            checkpoint[key] = found.states[key]
        elif found.ended.get(key):
            checkpoint[key] = "end"
    waiting = [] if is_rewound else _waiting(events, answered)
    status: Status = "rewound"
    reason = "taken back by a rewind"
    if not is_rewound:
        status, reason = _status(events, found.ended, checkpoint, waiting, answered, stray)
    if status == "interrupted":
        waiting = [PendingItem("interrupted", events[0].invocation_id, event_id=events[-1].id, author=agent_key(events[-1]))]
    marks = [event for event in events if event.actions.agent_state is not None or event.actions.end_of_agent]
    last = LastCheckpoint(agent_key(marks[-1]), marks[-1].id, marks[-1].timestamp) if marks else None
    at = events[-1].timestamp
    times = {event.id: event.timestamp for event in events} if waiting else {}
    waiting = [
        replace(item, reason=reason, last_time=at, asked_time=times.get(item.event_id or "", at), checkpoint=last) for item in waiting
    ]
    return Invocation(
        events[0].invocation_id,
        status,
        reason,
        events[0].id,
        events[-1].id,
        checkpoint,
        tuple(waiting) if status in ("paused", "interrupted") else (),
        is_turn(events, stray),
    )


def _status(
    events: Sequence[Event],
    ended: dict[str, bool],
    checkpoint: dict[str, Any],
    waiting: list[PendingItem],
    answered: Set[str | None],
    stray: Set[str | None],
) -> tuple[Status, str]:
    counted = [event for event in events if not is_state_edit(event) and not is_progress(event)]
    agents = [event for event in counted if event.author != "user"]
    root = agent_key(agents[0]) if agents else None
    if root is not None and ended.get(root):
        going_on = sorted(name for name in _speakers_after_end(agents, root) if not ended.get(name))
        if not going_on:
            return "finished", f"{root} reached its end"
        root = going_on[0]
    if waiting:
        names = ", ".join(dict.fromkeys(item.name or item.kind for item in waiting))
        return "paused", f"for an answer to {names}"
    if checkpoint:
        return "interrupted", f"{root} has not reached its end"
    if not agents:
        if all(event.content is None for event in events):
            return "finished", _without_content(events)
        return "interrupted", "no agent answered"
    if stray and all(responses and stray >= set(responses) for responses in map(_response_ids, events)):
        return "finished", "holds results of another invocation's calls"
    unanswered = _open_calls(events, answered | stray)
    if unanswered:
        return "interrupted", f"no result of {', '.join(unanswered)}"
    if agents[-1].error_code and not says_something(agents[-1].content):  # an answer that was cut off is one
        return "interrupted", f"failed with {agents[-1].error_code}"
    said = [event for event in counted if event.content or event.turn_complete or is_workflow_output(event)]
    if said and _left_loop(said[-1]):
        return "finished", "left its loop"
    if said and said[-1].author == "user":  # an answer to a call, or another message, that no agent has seen yet
        return "interrupted", "the agent has not answered"
    if agents[-1].turn_complete:  # of a live conversation, whose answers may have transcripts only
        return "finished", "the agent completed its turn"
    if said and closes_turn(said[-1]):
        confirmed = confirmed_calls(events)
        if confirmed:
            return "interrupted", f"no result of {', '.join(confirmed)}"
        return "finished", "empty answer" if is_empty_answer(said[-1]) else "the agent answered"
    if all(event.content is None for event in events):
        return "finished", _without_content(events)
    return "interrupted", "the agent has not answered"


def is_empty_answer(event: Event) -> bool:
    """Return whether an agent's event has a content without a text, a call or a result; thoughts say nothing to a person."""
    is_empty = event.content is not None and not says_something(event.content)
    return is_empty and event.author != "user" and not event.error_code and not event.turn_complete and not is_workflow_output(event)


def _left_loop(event: Event) -> bool:
    """Return whether google-adk up to 1.7 ended the invocation here: its LoopAgent returned at once. Later ones skip the summary, too."""
    return bool(event.actions.escalate) and any(response.name == "exit_loop" for response in event.get_function_responses())


def _without_content(events: Sequence[Event]) -> str:
    """Return what an invocation without any content did."""
    if any(event.actions.rewind_before_invocation_id for event in events):
        return "took back earlier invocations"
    if any(event.actions.compaction for event in events):
        return "summarised earlier events"
    return "changed state only"


def _response_ids(event: Event) -> list[str | None]:
    return [response.id for response in event.get_function_responses()]


def _speakers_after_end(events: list[Event], root: str) -> set[str]:
    """Return the agents with content or a checkpoint after the root's end.

    google-adk 2.x commits the root's end when it transfers. Also, the first author may be a child of a custom agent whose own first event
    is its checkpoint.
    """
    end = max(index for index, event in enumerate(events) if agent_key(event) == root and event.actions.end_of_agent)
    return {agent_key(event) for event in events[end:] if event.content or event.actions.agent_state is not None}


def _open_calls(events: Sequence[Event], answered: Set[str | None]) -> list[str]:
    asking = {response.id for event in without_request(events) for response in event.get_function_responses()}
    given = answered | {response.id for event in events for response in event.get_function_responses()} - asking
    return [call.name or "?" for event in events for call in event.get_function_calls() if call.id not in given]


def confirmed_calls(events: Sequence[Event]) -> list[str]:
    """Return the names of the calls that were confirmed, or got a credential, and have not run since."""
    if not any(event.author == "user" and event.get_function_responses() for event in events):
        return []
    keyed = [event if agent_key(event) == event.author else event.model_copy(update={"author": agent_key(event)}) for event in events]
    authors = dict.fromkeys(event.author for event in keyed if event.author != "user")
    turns = [read_turn([event for event in keyed if event.author in (key, "user")], key) for key in authors]
    return [call.name or "?" for turn in turns for call in turn.to_run if call.id in turn.answers]


def _waiting(events: Sequence[Event], answered: Set[str | None]) -> list[PendingItem]:
    asking = [event for event in events if event.long_running_tool_ids]
    if not asking:
        return []
    calls = {call.id: call for event in events for call in event.get_function_calls()}
    receipts = {response.id: response.response for event in events for response in event.get_function_responses()}
    return [
        _pending(event, call, calls, receipts.get(call.id))
        for event in asking
        for call in event.get_function_calls()
        if call.id in (event.long_running_tool_ids or ()) and call.id not in answered
    ]


def _pending(
    event: Event, call: types.FunctionCall, calls: dict[str | None, types.FunctionCall], so_far: dict[str, Any] | None
) -> PendingItem:
    args = dict(call.args or {})
    item = partial(PendingItem, invocation_id=event.invocation_id, call_id=call.id, event_id=event.id, author=agent_key(event))
    if call.name in (CONFIRMATION_CALL, CREDENTIAL_CALL):
        original = calls.get(requested_call_id(call))
        confirmation = _object(args.get("toolConfirmation"))
        return item(
            kind="confirmation" if call.name == CONFIRMATION_CALL else "credential",
            name=original.name if original else _named(call),
            args=dict((original.args if original else _object(_object(args.get("originalFunctionCall")).get("args"))) or {}),
            hint=_text(confirmation.get("hint")),
            payload=confirmation.get("payload"),
            auth_config=_object(args.get("authConfig")),
        )
    return item(kind="long_running", name=call.name, args=args, hint=_text(args.get("message")), so_far=so_far)


def _named(request: types.FunctionCall) -> str | None:
    """Return the tool or toolset that a request is for, of which no call is committed."""
    original = _object((request.args or {}).get("originalFunctionCall"))
    toolset = (requested_call_id(request) or "").removeprefix(TOOLSET_CREDENTIAL) if asks_for_toolset(request) else None
    return _text(original.get("name")) or toolset


def _object(value: Any) -> dict[str, Any]:
    """Return a JSON object; an empty one for any other value, as stored requests are not validated."""
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    return value if value and isinstance(value, str) else None
