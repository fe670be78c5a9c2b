"""What differs between a request and the agent's previous one. No Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from inspector_app.documents.request_json import instruction_text, plain_content, plain_tools, settings_of
from runtime.storage.recordings.recorded_call import RecordedModelRequest

SAME = "nothing"
MAX_COMPARED = 4_000  # contents or paragraphs of one side that are aligned; more would take seconds


def request_changes(before: RecordedModelRequest, now: RecordedModelRequest) -> dict[str, Any]:
    """Return the differences between two requests, title → what was removed and added; empty if there are none."""
    changes: dict[str, Any] = {}
    if before.model != now.model:
        changes["model"] = f"{before.model} → {now.model}"
    old, new = (instruction_text(request.config).split("\n\n") for request in (before, now))
    changes |= _titled("system instruction", _sequence_changes(old, new, str))
    changes |= _titled("tools", _mapping_changes(plain_tools(before.config.get("tools")), plain_tools(now.config.get("tools"))))
    changes |= _titled("settings", _mapping_changes(settings_of(before.config), settings_of(now.config)))
    changes |= _titled("conversation", _sequence_changes(before.contents, now.contents, plain_content))
    return changes


def _titled(title: str, found: Any) -> dict[str, Any]:
    return {title: found} if found else {}


def _mapping_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in {**before, **now}:
        if name not in before:
            found[f"+ {name}"] = now[name]
        elif name not in now:
            found[f"− {name}"] = before[name]
        elif before[name] != now[name]:
            found[f"± {name}"] = {"before": before[name], "now": now[name]}
    return found


def steps_between(before: Sequence[Any], now: Sequence[Any]) -> list[tuple[str, int, int, int, int]]:
    """Return what leads from one sequence to another, as `SequenceMatcher.get_opcodes` does; very long rests are not aligned."""
    first = next((place for place, (one, other) in enumerate(zip(before, now, strict=False)) if one != other), min(len(before), len(now)))
    old, new = before[first:], now[first:]
    steps = [("equal", 0, first, 0, first)] if first else []
    if old and max(len(old), len(new)) <= MAX_COMPARED:
        found = SequenceMatcher(None, [repr(item) for item in old], [repr(item) for item in new], autojunk=False).get_opcodes()
        return steps + [(kind, one + first, other + first, third + first, last + first) for kind, one, other, third, last in found]
    return steps + ([("replace", first, len(before), first, len(now))] if old or new else [])


def _sequence_changes(before: Sequence[Any], now: Sequence[Any], shown: Any) -> dict[str, Any]:
    """Return the items of only one of two sequences, in order; their keys are sign and number in their sequence."""
    found: dict[str, Any] = {}
    for kind, old_start, old_end, new_start, new_end in steps_between(before, now):
        if kind != "equal":
            found |= {f"− {place + 1}": shown(before[place]) for place in range(old_start, old_end)}
            found |= {f"+ {place + 1}": shown(now[place]) for place in range(new_start, new_end)}
    return found
