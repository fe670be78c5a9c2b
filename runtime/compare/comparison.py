"""Two sessions compared event by event."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runtime.compare.alignment import Item, Pair, align
from runtime.compare.branch_order import by_branch
from runtime.compare.event_differences import call_ids, content_of
from runtime.events.credentials import without_credentials
from runtime.events.kinds import kind_of, tokens_of
from runtime.events.plain_event import whole_event
from runtime.history.scoped_state import differences
from runtime.history.state_at import History
from runtime.sessions.state import Change
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    from google.genai import types

    from runtime.events.event import Event
    from runtime.flows import contents
else:
    contents = lazy_module("runtime.flows.contents")


@dataclass(frozen=True, slots=True)
class Row:
    """Two corresponding events, or one without a counterpart.

    Attributes:
        left, right: indices in the two sessions; None where the counterpart is missing.
        same: whether both have the same content.
    """

    left: int | None
    right: int | None
    same: bool


@dataclass(frozen=True, slots=True)
class Totals:
    """A session's totals.

    Attributes:
        events, invocations: their number.
        model_answers: events with token counts.
        tool_calls: function calls.
        prompt_tokens, answer_tokens, tokens: the models' counts; answers include thoughts.
        seconds: the time from the first to the last event of each invocation, added up.
    """

    events: int
    invocations: int
    model_answers: int
    tool_calls: int
    prompt_tokens: int
    answer_tokens: int
    tokens: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sessions side by side.

    Attributes:
        rows: all events of both, each once, in the order of the left session; events of the right one that have no counterpart follow
            those that they follow in their branch.
        differing: indices of the rows that are not the same, for going to the next and previous one.
        left, right: each session's totals.
        call_ids: the function call ids of both, for `differences_of`.
    """

    rows: list[Row]
    differing: list[int]
    left: Totals
    right: Totals
    call_ids: frozenset[str]

    @property
    def first_difference(self) -> int | None:
        """The index of the first row that is not the same."""
        return self.differing[0] if self.differing else None


def compare(left: Sequence[Event], right: Sequence[Event]) -> Comparison:
    """Align two sessions' events and mark the equal ones; ids, times, token counts and how parallel branches took turns are ignored.

    Args:
        left, right: all events of each session, in commit order.
    """
    ids = call_ids(left) | call_ids(right)
    one, other = ([_item(event, ids) for event in events] for events in (left, right))
    rows = [Row(i, j, i is not None and j is not None and one[i].content == other[j].content) for i, j in _pairs(left, one, right, other)]
    differing = [number for number, row in enumerate(rows) if not row.same]
    return Comparison(rows, differing, totals(left), totals(right), ids)


def _pairs(left: Sequence[Event], one: Sequence[Item], right: Sequence[Event], other: Sequence[Item]) -> list[Pair]:
    """Return the corresponding events, parallel branches aligned branch by branch, in the order of the left session."""
    lefts, rights = by_branch(left), by_branch(right)
    pairs: list[tuple[int, Pair]] = []
    after = -1
    for i, j in align([one[index] for index in lefts], [other[index] for index in rights]):
        after = lefts[i] if i is not None else after
        pairs.append((after, (after if i is not None else None, rights[j] if j is not None else None)))
    return [pair for _, pair in sorted(pairs, key=lambda pair: pair[0])]


def totals(events: Sequence[Event]) -> Totals:
    """Return a session's totals."""
    usages = [event.usage_metadata for event in events if event.usage_metadata]
    spans: dict[str, tuple[float, float]] = {}
    for event in events:
        first, _ = spans.get(event.invocation_id, (event.timestamp, 0.0))
        spans[event.invocation_id] = (first, event.timestamp)
    return Totals(
        events=len(events),
        invocations=len(spans),
        model_answers=len(usages),
        tool_calls=sum(len(event.get_function_calls()) for event in events),
        prompt_tokens=sum(usage.prompt_token_count or 0 for usage in usages),
        answer_tokens=sum((usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0) for usage in usages),
        tokens=sum(map(tokens_of, events)),
        seconds=sum(max(0.0, last - first) for first, last in spans.values()),
    )


def state_differences(left: History, left_index: int, right: History, right_index: int) -> list[Change]:
    """Return the differences in the state of two sessions, each after one of its events; `before` is the left value.

    Args:
        left, right: the sessions' histories.
        left_index, right_index: the events' indices; -1 for the sessions' creations.
    """
    return differences(left.state_at(left_index), right.state_at(right_index))


def prompt_of(events: Sequence[Event], index: int) -> list[types.Content]:
    """Return the conversation that an event's agent had before the event, as it was sent to its model.

    Instructions and tools are not stored; an agent that sees only its present turn (`include_contents="none"`) saw less.
    """
    event = events[index]
    return contents.Conversation(event.author, event.branch, invocation_id=event.invocation_id).contents(
        [without_credentials(whole_event(earlier)) for earlier in events[:index]]
    )


def _item(event: Event, ids: frozenset[str]) -> Item:
    content = content_of(event, ids)
    names = [*content["call"], *(name for name, _ in content["result"])]
    outline = (event.author, event.branch, kind_of(event), *names)
    return Item(json.dumps(content, sort_keys=True, default=repr), outline)
