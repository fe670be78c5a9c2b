"""Which events of a session are in a request, and why the others are not. No Qt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from inspector_app.presentation.event_summary import describe
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

IN = "in the request"
OUT = "not in the request"
BY_OTHERS = "a plugin or callback left it out or changed it, or the agent's own settings"
_HIDDEN = "(redacted)"


@dataclass(frozen=True, slots=True)
class PromptEvent:
    """An event before a model call.

    Attributes:
        index: its place in the session, from 0.
        event: the event.
        reason: why it is not in the request; empty if it is.
    """

    index: int
    event: Event
    reason: str


def prompt_events(events: Sequence[Event], index: int, request: RecordedModelRequest) -> list[PromptEvent]:
    """Return the events before a model call, and whether each is in its request. The recorded request decides; rules explain.

    Args:
        events: the session's events, in commit order.
        index: the place of the event that the answer became.
        request: the request.
    """
    answer, before = events[index], events[:index]
    said = _Said(request)
    rules = _Rules(answer, before, request)
    reasons = [rules.reason(event) for event in before]
    # Events that belong in the request first: another one may have the same text.
    order = sorted(range(index), key=lambda place: reasons[place] != BY_OTHERS)
    taken = {place for place in order if said.take(before[place])}
    return [PromptEvent(place, event, "" if place in taken else reasons[place]) for place, event in enumerate(before)]


def events_as_values(found: Sequence[PromptEvent]) -> dict[str, Any]:
    """Return the events for a tree: in the request, and not, each with its number, author, summary and reason."""
    values: dict[str, Any] = {}
    for title, wanted in ((IN, True), (OUT, False)):
        named = {
            f"#{entry.index + 1:,} {entry.event.author[:40]}": describe(entry.event).summary[:200]
            if wanted
            else f"{entry.reason}: {describe(entry.event).summary[:160]}"
            for entry in found
            if (not entry.reason) is wanted
        }
        if named:
            values[f"{title} ({len(named):,})"] = named
    return values


class _Said:
    """What a request's contents say. Each of their parts belongs to one event."""

    def __init__(self, request: RecordedModelRequest) -> None:
        self._texts: Counter[str] = Counter()
        self._calls: list[tuple[str, Any]] = []
        self._answers: list[tuple[str, Any]] = []
        self._files = 0
        for content in request.contents:
            parts = content.get("parts") if isinstance(content, Mapping) else None
            for part in parts if isinstance(parts, list) else ():
                if isinstance(part, Mapping):
                    self._add(part)

    def _add(self, part: Mapping[str, Any]) -> None:
        text, call, answer = part.get("text"), part.get("function_call"), part.get("function_response")
        if isinstance(text, str):
            self._texts[text] += 1
        if isinstance(call, Mapping):
            self._calls.append((str(call.get("name")), call.get("args") or {}))
        if isinstance(answer, Mapping):
            self._answers.append((str(answer.get("name")), answer.get("response") or {}))
        self._files += "inline_data" in part or "file_data" in part

    def take(self, event: Event) -> bool:
        """Return whether any part of an event is in the request, as it is or as context from another agent, and remove it there."""
        summary = event.actions.compaction
        content = summary.compacted_content if summary is not None else event.content
        taken = [self._take_part(part, event.author) for part in (content.parts if content else None) or ()]
        return any(taken)

    def _take_part(self, part: Any, author: str) -> bool:
        call, answer = part.function_call, part.function_response
        if part.text:
            return self._take_text(part.text, f"[{author}] said: {part.text}")
        if call is not None:
            told = f"[{author}] called tool `{call.name}`"
            return _take(self._calls, call.name or "", call.args or {}) or self._take_text(told)
        if answer is not None:
            told = f"[{author}] got from tool `{answer.name}`"
            return _take(self._answers, answer.name or "", answer.response or {}) or self._take_text(
                told, f"[{author}] `{answer.name}` tool returned result"
            )
        if (part.inline_data is not None or part.file_data is not None) and self._files:
            self._files -= 1
            return True
        return False

    def _take_text(self, *wanted: str) -> bool:
        found = next((text for text in wanted if text in self._texts), None) or next(filter(partial(_is_one, wanted), self._texts), None)
        if found is None:
            return False
        self._texts[found] -= 1
        if not self._texts[found]:
            del self._texts[found]
        return True


def _is_one(wanted: Sequence[str], text: str) -> bool:
    """Return whether a text is one of these with secrets replaced, or begins as what another agent did with a tool."""
    begins = any(text.startswith(one) for one in wanted if one.startswith("[") and "tool" in one[:80])
    return begins or (_HIDDEN in text and any(_matches(one, text) for one in wanted))


def _take(there: list[tuple[str, Any]], name: str, value: Any) -> bool:
    for place, (known, recorded) in enumerate(there):
        if known == name and _alike(recorded, value):
            del there[place]
            return True
    return False


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
    return bool(recorded == stored) or not isinstance(stored, (str, int, float, bool, type(None), Mapping, list))


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
        self._answered = {response.id for event in before for response in event.get_function_responses()}
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

    def _reason_of_content(self, event: Event) -> str:
        parts = [part for part in (event.content.parts if event.content else None) or () if part.text != ""]
        functions = [part.function_call or part.function_response for part in parts]
        if not parts:
            return "it has no content"
        if all(function is not None and function.name in REQUEST_CALLS for function in functions):
            return "requests to a person are never sent to models"
        branch = self._answer.branch
        if branch and event.branch and event.branch != branch and not branch.startswith(event.branch + "."):
            return f"it is on another branch, {event.branch}"
        if all(part.thought for part in parts) and event.author != self._answer.author:
            return "thoughts of other agents are not sent"
        if all(part.function_call and part.function_call.id not in self._answered for part in parts):
            return "its call has no response yet"
        if self._is_present_turn_only and event.id not in self._turn:
            return "include_contents is none: only the present turn is sent"
        return BY_OTHERS


def _present_turn(answer: Event, before: Sequence[Event]) -> Iterator[str]:
    """Yield the ids of the events from the last message of the user or another agent on."""
    for event in reversed(before):
        yield event.id
        if event.author != answer.author and not event.get_function_responses():
            return
