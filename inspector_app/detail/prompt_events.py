"""Which events of a session are in a request, and why the others are not. No Qt."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runtime.events.marks import REQUEST_CALLS
from runtime.storage.recordings.recorded_call import RecordedModelRequest
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    from runtime.events.event import Event
    from runtime.flows import summaries
    from runtime.history import rewound
else:
    summaries = lazy_module("runtime.flows.summaries")
    rewound = lazy_module("runtime.history.rewound")

BY_OTHERS = "why is not known: a plugin, a callback or a setting may have left it out or changed it"
EQUAL = "the request has fewer of several equal events; which of them cannot be known"
_HIDDEN = "(redacted)"
_BEGIN, _END, _ELIDED = "<<<BEGIN_QUOTED_AGENT_CONTENT>>>", "<<<END_QUOTED_AGENT_CONTENT>>>", "<<<ELIDED_MARKER>>>"
_QUOTED = re.compile(rf"(\[[^\]]*\] [^\n]*:)\n{_BEGIN}\n(.*)\n{_END}", re.DOTALL)
_TOLD = re.compile(r"\[[^\]]*\] (called tool `[^`]*` with|`[^`]*` tool returned result:|got from tool `[^`]*`:)")
_PREFACE = re.compile(r"\[([^\]]*)\] (?:said|thought): |\[([^\]]*)\] (?=called tool|`[^`]*` tool returned)")
_Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class PromptEvent:
    """An event before a model call.

    Attributes:
        index: its place in the session, from 0.
        event: the event.
        reason: why it is not in the request; empty if it is, or a part of it.
        partly: why parts of an event in the request are not in it; empty if all are.
    """

    index: int
    event: Event
    reason: str
    partly: str = ""


def prompt_events(events: Sequence[Event], index: int, request: RecordedModelRequest) -> list[PromptEvent]:
    """Return the events before a model call, and whether each is in its request. The recorded request decides; rules explain.

    Args:
        events: the session's events, in commit order.
        index: the place of the event that the answer became.
        request: the request.
    """
    answer, before = events[index], events[:index]
    rules = _Rules(answer, before, request)
    said = _Said(request, answer.author, rules.answered)
    reasons = [rules.reason(event) for event in before]
    # Of equal events, those that belong in the request first, then the newest: what shortens a conversation drops its beginning.
    order = sorted(range(index), key=lambda place: (reasons[place] != BY_OTHERS, -place))
    parts = [_parts(event) for event in before]
    left = [list(enumerate(found)) for found in parts]
    for take in (said.take_expected, said.take_equal, said.take_alike):
        for place in order:
            left[place] = [one for one in left[place] if not take(one[1], before[place].author)]
    found = []
    for place, event in enumerate(before):
        if len(left[place]) < len(parts[place]):
            found.append(PromptEvent(place, event, "", rules.reason_of_parts(event, [number for number, _ in left[place]])))
        else:
            is_equal = reasons[place] == BY_OTHERS and said.has_equal(event)
            found.append(PromptEvent(place, event, EQUAL if is_equal else reasons[place]))
    return found


def events_of_contents(request: RecordedModelRequest, found: Sequence[PromptEvent]) -> list[PromptEvent | None]:
    """Return the event that each content of a request tells; None where no event has such a part."""
    by_key: dict[_Key, list[PromptEvent]] = {}
    for entry in reversed([entry for entry in found if not entry.reason]):
        for part in _parts(entry.event):
            for key in _keys(part, entry.event.author):
                by_key.setdefault(key, []).append(entry)
    events: list[PromptEvent | None] = []
    for content in request.contents:
        parts = content.get("parts") if isinstance(content, Mapping) else None
        keys = [key for part in (parts if isinstance(parts, list) else ()) if isinstance(part, Mapping) for key in _keys(part)[:1]]
        events.append(next((by_key[key].pop() for key in keys if by_key.get(key)), None))
    return events


def told_by(text: str) -> tuple[str, str]:
    """Return who said a text that tells an agent what another one said, and what it said; an empty name for other texts."""
    plain = _unquoted(text)
    begin = _PREFACE.match(plain)
    return (begin[1] or begin[2], plain[begin.end() :]) if begin is not None else ("", text)


class _Said:
    """What a request's contents say. Each of their parts belongs to one event, and is removed here when it is found.

    Args:
        request: the request.
        agent: the name of the agent that asked.
        answered: the ids of the calls that have a response.
    """

    def __init__(self, request: RecordedModelRequest, agent: str, answered: Container[str | None]) -> None:
        self._agent = agent
        self._answered = answered
        self._all: Counter[_Key] = Counter()
        for content in request.contents:
            parts = content.get("parts") if isinstance(content, Mapping) else None
            for part in parts if isinstance(parts, list) else ():
                if isinstance(part, Mapping):
                    self._all.update(_keys(part)[:1])
        self._left = self._all.copy()

    def take_expected(self, part: Mapping[str, Any], author: str) -> bool:
        """Return whether a part is in the request as runtimes put it there: the agent's and the user's as it is, others' as context.

        Calls without a response are not in it.
        """
        if "function_call" in part and part["function_call"].get("id") not in self._answered:
            return False
        keys = _keys(part, author)
        return self._take(keys[:1] if author in (self._agent, "user") else keys[1:] or keys)

    def take_equal(self, part: Mapping[str, Any], author: str) -> bool:
        """Return whether a part is in the request, in either form."""
        return self._take(_keys(part, author))

    def take_alike(self, part: Mapping[str, Any], author: str) -> bool:
        """Return whether a part is in the request but for replaced secrets, or for values of another agent that JSON does not have."""
        keys = _keys(part, author)
        return self._take([left for left in self._left if any(_is_one(key, left) for key in keys)])

    def has_equal(self, event: Event) -> bool:
        """Return whether the request has a part like one of an event, for any event."""
        return any(key in self._all for part in _parts(event) for key in _keys(part, event.author))

    def _take(self, wanted: Iterable[_Key]) -> bool:
        found = next((key for key in wanted if key in self._left), None)
        if found is None:
            return False
        self._left[found] -= 1
        if not self._left[found]:
            del self._left[found]
        return True


def _parts(event: Event) -> list[dict[str, Any]]:
    """Return what an event gives to requests: the parts of its content, of its summary, or its transcripts."""
    summary = event.actions.compaction
    content = summary.compacted_content if summary is not None else event.content
    found = []
    for part in (content.parts if content else None) or ():
        found.append(part.model_dump(exclude_none=True))
        for name, field in (("function_call", "args"), ("function_response", "response")):
            if name in found[-1]:
                found[-1][name]["told"] = getattr(getattr(part, name), field)  # agents tell each other what is None too
    transcripts = (event.input_transcription, event.output_transcription) if content is None else ()
    return found + [{"text": transcript.text} for transcript in transcripts if transcript is not None and transcript.text]


def _keys(part: Mapping[str, Any], author: str | None = None) -> list[_Key]:
    """Return by what a part is known in requests: as it is; with an author, also as context for other agents, as each runtime words it."""
    text, call, answer = part.get("text"), part.get("function_call"), part.get("function_response")
    keys: list[_Key] = []
    told: list[str] = []
    if isinstance(text, str) and text:
        keys = [("text", _unquoted(text), "")]
        told = [f"thought: {text}" if part.get("thought") else f"said: {text}"]
    elif isinstance(call, Mapping):
        keys = [("call", str(call.get("name")), _json(call.get("args") or {}))]
        args = call.get("told") or {}
        forms = f"parameters: {args}", f"parameters: {dict(sorted(args.items()))}", json.dumps(args, ensure_ascii=False, default=str)
        told = [f"called tool `{call.get('name')}` with {form}" for form in forms]
    elif isinstance(answer, Mapping):
        keys = [("answer", str(answer.get("name")), _json(answer.get("response") or {}))]
        response = answer.get("told")
        told = [
            f"`{answer.get('name')}` tool returned result: {response}",
            f"got from tool `{answer.get('name')}`: {json.dumps(response, ensure_ascii=False, default=str)}",
        ]
    else:
        keys = [("other", name, _json(_of_file(value))) for name, value in part.items() if isinstance(value, Mapping)]
    return keys + [("text", _elided(f"[{author}] {one}"), "") for one in told if author is not None]


def _of_file(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a part's value without a file's bytes, which recordings do not have."""
    return {name: one for name, one in value.items() if name != "data"}


def _elided(text: str) -> str:
    return text.replace(_BEGIN, _ELIDED).replace(_END, _ELIDED)


def _unquoted(text: str) -> str:
    """Return a text of another agent without the marks between which google-adk 2.13 quotes it, as earlier versions told it."""
    quoted = _QUOTED.fullmatch(text)
    return _elided(f"{quoted[1]} {quoted[2]}" if quoted is not None else text)


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _is_one(wanted: _Key, left: _Key) -> bool:
    """Return whether what is left of a request is a part with secrets replaced, or begins as what another agent did with a tool."""
    (kind, name, value), (left_kind, left_name, left_value) = wanted, left
    if kind != left_kind:
        return False
    if kind == "text":
        begin = _TOLD.match(name)
        return (begin is not None and left_name.startswith(begin[0])) or (_HIDDEN in left_name and _matches(name, left_name))
    return name == left_name and _alike(json.loads(left_value), json.loads(value))


def _matches(text: str, redacted: str) -> bool:
    """Return whether a text has everything of a redacted one, in order."""
    place = 0
    for piece in redacted.split(_HIDDEN):
        place = text.find(piece, place)
        if place < 0:
            return False
        place += len(piece)
    return True


def _alike(recorded: Any, stored: Any) -> bool:
    """Return whether a recorded value is a stored one, secrets apart."""
    if recorded == _HIDDEN:
        return True
    if isinstance(recorded, Mapping) and isinstance(stored, Mapping):
        return recorded.keys() == stored.keys() and all(_alike(recorded[key], stored[key]) for key in recorded)
    if isinstance(recorded, list) and isinstance(stored, list):
        return len(recorded) == len(stored) and all(map(_alike, recorded, stored))
    if isinstance(recorded, str) and isinstance(stored, str) and _HIDDEN in recorded:
        return _matches(stored, recorded)
    return bool(recorded == stored)


class _Rules:
    """The rules by which a runtime leaves events out of an agent's requests.

    Args:
        answer: the event that the model's answer became.
        before: the events before it.
        request: the request, whose agent may see its present turn only.
    """

    def __init__(self, answer: Event, before: Sequence[Event], request: RecordedModelRequest) -> None:
        self._answer = answer
        alive = rewound.without_rewound(before)
        self._alive = {event.id for event in alive}
        self._kept = {event.id for event in summaries.with_summaries(list(alive))}
        self.answered = {response.id: event.id for event in before for response in event.get_function_responses()}
        self._passed = {event.id for event in _before_late_answer(before)}
        self._is_present_turn_only = request.agent_texts.get("include_contents") == "none"
        self._turn = set(_present_turn(answer, before)) if self._is_present_turn_only else set()

    def reason(self, event: Event) -> str:
        """Return why an event is not in the request."""
        if event.actions.rewind_before_invocation_id is not None:
            return "it is a rewind"
        if event.id not in self._alive:
            return "a rewind took it back"
        if event.id not in self._kept:
            return "a summary replaces it"
        return self._reason_of_content(event)

    def reason_of_parts(self, event: Event, places: Sequence[int]) -> str:
        """Return why parts of an event that is in the request are not; empty for parts without content."""
        content = event.content
        parts = [content.parts[place] for place in places] if content is not None and content.parts and not event.actions.compaction else []
        told = [part for part in parts if part.text is None or part.text.strip()]
        if content is None or not any(_keys(part.model_dump(exclude_none=True)) for part in told):
            return ""
        return self._reason_of_content(event.model_copy(update={"content": content.model_copy(update={"parts": told})}))

    def _reason_of_content(self, event: Event) -> str:
        parts = [part for part in (event.content.parts if event.content else None) or () if part.text is None or part.text.strip()]
        functions = [part.function_call or part.function_response for part in parts]
        if not parts:
            return BY_OTHERS if _parts(event) else "it has no content"
        if all(function is not None and function.name in REQUEST_CALLS for function in functions):
            return "requests to a person are never sent to models"
        branch = self._answer.branch
        if branch and event.branch and event.branch != branch and not branch.startswith(event.branch + "."):
            return f"it is on another branch, {event.branch}"
        if all(part.thought for part in parts) and event.author != self._answer.author:
            return "thoughts of other agents are not sent"
        if all(part.function_call and part.function_call.id not in self.answered for part in parts):
            return "its call has no response yet"
        responses = [part.function_response for part in parts if part.function_response]
        if len(responses) == len(parts) and all(self.answered[one.id] != event.id for one in responses):
            return "a later response to its call replaces it"
        if event.id in self._passed:
            return "it is between a call and its late response"
        if self._is_present_turn_only and event.id not in self._turn:
            return "include_contents is none: only the present turn is sent"
        return BY_OTHERS


def _before_late_answer(before: Sequence[Event]) -> Sequence[Event]:
    """Return the events between a call and its response, if that is the last event: requests have the two side by side."""
    ids = {response.id for response in before[-1].get_function_responses()} if before else set()
    for place in range(len(before) - 2, -1, -1) if ids else ():
        if any(call.id in ids for call in before[place].get_function_calls()):
            return before[place + 1 : -1]
    return ()


def _present_turn(answer: Event, before: Sequence[Event]) -> Iterator[str]:
    """Yield the ids of the events from the last message of the user or another agent on."""
    for event in reversed(before):
        yield event.id
        if event.author != answer.author and not event.get_function_responses():
            return
