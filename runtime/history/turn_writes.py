"""Which calls of a turn wrote a state key, and lists that lost what calls added: each read the list before the others wrote it.

Calls of one turn share the state, and google-adk joins their results in one event with the last value of each key. So what a call wrote is
recognised by its arguments, and by the results: a call that was refused says so.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from runtime.events.marks import REQUEST_CALLS
from runtime.sessions.state import same_value

if TYPE_CHECKING:
    from google.genai import types

    from runtime.events.event import Event

_NUMBERS = re.compile(r"[0-9a-f-]+")  # counts, ids and times, if there is a digit: results differ in them that say the same
_MOST_CALLS = 100  # of a turn that are compared; each is compared with what the others wrote
_MOST_ITEMS = 1_000  # of a list, from the first that differs
_LONGEST_RESULT = 20_000  # characters
_DEEPEST = 3  # levels of a value in which lists are compared
_Calls = Sequence["types.FunctionCall"]


class LostUpdate(NamedTuple):
    """A list that lacks what calls of its turn added.

    Attributes:
        event_id: the event with the turn's last write.
        key: the state key, with the place in its value: `cart.items`.
        kept, lost: the calls whose additions it has, and lacks.
    """

    event_id: str
    key: str
    kept: _Calls
    lost: _Calls


class _Turn(NamedTuple):
    """What results of one turn did to a list so far.

    Attributes:
        base: the list before the turn.
        calls: the calls that returned.
        added: what one of them is known to have added.
        update: what is lost at the last of these results.
    """

    base: list[Any]
    calls: list[types.FunctionCall]
    added: list[Any]
    update: LostUpdate | None


def turns_of(events: Iterable[Event]) -> dict[str, _Calls]:
    """Return the calls of each call's turn, by the call's id."""
    found: dict[str, _Calls] = {}
    for event in events:
        calls = [call for call in event.get_function_calls() if call.id]
        found.update((call.id or "", calls) for call in calls)
    return found


def credited(event: Event, turns: Mapping[str, _Calls], before: Any, after: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the tools whose results an event carries and that wrote a key, and those one of which did, if that is not known.

    Args:
        event: the event that wrote the key.
        turns: from `turns_of`.
        before, after: the key's values.
    """
    results = [one for one in event.get_function_responses() if one.name not in REQUEST_CALLS]
    names = tuple(dict.fromkeys(one.name or "?" for one in results))
    calls = next((turns[one.id or ""] for one in results if one.id in turns), [])
    if len(calls) < 2:
        return names, ()
    ids = {one.id for one in results}
    new, own = _new_parts(before, after), _own_values(calls)
    writers = [call for call in calls if any(_holds(new, value) for value in own[call.id])]
    if writers:
        return tuple(dict.fromkeys(call.name or "?" for call in writers if call.id in ids)), ()
    return (names, ()) if len(names) < 2 else ((), names)


def lost_updates(events: Iterable[Event], first: Mapping[str, Any] | None) -> list[LostUpdate]:
    """Return the lists that lost what calls of their turn added, in order.

    Args:
        events: a session's events in commit order.
        first: the session's own first state; None if it is not recorded.
    """
    state, turns = dict(first or {}), dict[tuple[int, str], _Turn]()
    of_call: dict[str, _Calls] = {}
    by_id: dict[str | None, types.FunctionCall] = {}
    results: dict[str | None, Any] = {}
    replacing: set[tuple[str | None, str]] = set()  # tools that set a key to a list of their own
    for event in events:
        of_call |= turns_of([event])
        by_id.update((call.id, call) for call in event.get_function_calls())
        delta = event.actions.state_delta
        responses = [one for one in event.get_function_responses() if one.id in of_call] if delta else []
        results.update((one.id, one.response) for one in responses)
        made = [by_id[one.id] for one in responses]
        lists = [found for key, value in delta.items() for found in _lists(key, state.get(key), value)] if made else []
        state |= delta
        for key, before, after in lists:
            place = id(of_call[made[0].id or ""]), key
            turn = turns.get(place) or _Turn(before, [], [], None)
            calls, added = [*turn.calls, *made][: _MOST_CALLS + 1], _added(turn.base, after)
            if added is None:
                replacing.update((call.name, key) for call in made if turn.base)
                turns[place] = turn._replace(calls=calls, update=None)
                continue
            kept, lost = _shares(calls, results, added, after, is_certain=bool(turn.base))
            if turn.base and not kept and any(not _has_item(after, item) for item in turn.added):
                kept, lost = made, turn.calls
            turns[place] = turn._replace(calls=calls, added=added, update=LostUpdate(event.id, key, kept, lost) if lost else None)
    found = [(turn.update, bool(turn.base)) for turn in turns.values() if turn.update]
    return [update for update, is_certain in found if is_certain or (update.kept[0].name, update.key) not in replacing]


def _lists(name: str, before: Any, after: Any, depth: int = 0) -> Iterator[tuple[str, list[Any], list[Any]]]:
    """Yield the lists in a value, with their names and what they were before; empty if they were none."""
    if isinstance(after, list):
        yield name, before if isinstance(before, list) else [], after
    elif isinstance(after, dict) and depth < _DEEPEST:
        for key, value in after.items():
            yield from _lists(f"{name}.{key}", before.get(key) if isinstance(before, dict) else None, value, depth + 1)


def _new_parts(before: Any, after: Any) -> Any:
    """Return what a value has that it had not before."""
    if isinstance(after, list) and isinstance(before, list):
        alike = next((at for at, (one, other) in enumerate(zip(before, after, strict=False)) if not same_value(one, other)), len(before))
        rest = before[alike : alike + _MOST_ITEMS]
        return [item for item in after[alike : alike + _MOST_ITEMS] if not _has_item(rest, item)]
    if isinstance(after, dict) and isinstance(before, dict):
        return [_new_parts(before.get(key), value) for key, value in after.items()]
    return [] if same_value(before, after) else [after]


def _added(base: Sequence[Any], after: Sequence[Any]) -> list[Any] | None:
    """Return what was added at the end of a list; None if it was changed in another way."""
    return list(after[len(base) :]) if len(after) >= len(base) and all(map(same_value, base, after)) else None


def _shares(calls: _Calls, results: Mapping[str | None, Any], added: Any, after: Any, *, is_certain: bool) -> tuple[_Calls, _Calls]:
    """Return the calls that added to a list, and those of the same tools with the same results whose additions it lacks.

    Calls of several tools have the same arguments where each may have made the additions.

    Args:
        calls: the calls.
        results: the result of each, by its id.
        added: the end of the list.
        after: the whole list.
        is_certain: whether the calls are known to add to the list: then a text may have an argument as a part.
    """
    kept: _Calls = []
    lost: _Calls = []
    for name in dict.fromkeys(call.name for call in calls):
        own = _own_values([call for call in calls if call.name == name])
        ours = [call for call in calls if any(_holds(added, value, part=is_certain) for value in own.get(call.id, ()))]
        forms = {_form(results[call.id], own[call.id]) for call in ours}
        others = [call for call in calls if own.get(call.id) and _form(results[call.id], own[call.id]) in forms]
        gone = [call for call in others if not any(_holds(after, value, part=True) for value in own[call.id])]
        if ours and not gone:
            return ours, []  # these calls explain what was added
        kept, lost = [*kept, *ours], [*lost, *gone]
    return kept, lost


def _own_values(calls: _Calls) -> dict[str | None, set[Any]]:
    """Return the values in each call's arguments that no other one has, by the call's id; none for calls too many to be compared."""
    values = {call.id: set(_scalars(call.args)) if len(calls) <= _MOST_CALLS else set[Any]() for call in calls}
    times = Counter(value for found in values.values() for value in found)
    return {name: {value for value in found if times[value] == 1} for name, found in values.items()}


def _form(result: Any, own: Iterable[Any]) -> str:
    """Return a call's result without what only this call has: equal for calls that did the same."""
    text = json.dumps(result, default=str, sort_keys=True, ensure_ascii=False)[:_LONGEST_RESULT].casefold()
    for value in sorted(map(str, own), key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(json.dumps(value, ensure_ascii=False)[1:-1])}(?!\w)", "0", text)
    return _NUMBERS.sub(lambda found: "0" if any(map(str.isdigit, found[0])) else found[0], text)


def _has_item(items: Sequence[Any], wanted: Any) -> bool:
    return any(same_value(item, wanted) for item in items)


def _holds(value: Any, wanted: Any, *, part: bool = False) -> bool:
    """Return whether a text or number is somewhere in JSON data; with `part`, also as a part of a text."""
    return any(one == wanted or (part and isinstance(wanted, str) and isinstance(one, str) and wanted in one) for one in _scalars(value))


def _scalars(value: Any) -> Iterator[Any]:
    """Yield the texts and numbers in JSON data; texts without regard to case."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _scalars(item)
    elif isinstance(value, str) and value.strip():
        yield value.strip().casefold()
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield value
