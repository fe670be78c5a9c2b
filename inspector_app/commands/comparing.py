"""The `compare` subcommand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from inspector_app.commands.options.branching import Compare
from inspector_app.commands.output import print_json, print_line, print_table
from inspector_app.commands.reading import opened
from inspector_app.commands.selection import session_key
from inspector_app.presentation.event_summary import describe
from inspector_app.presentation.values import preview, visible
from runtime.compare import Comparison, Row, compare, differences_of
from runtime.compare.comparison import Totals, prompt_of, state_differences
from runtime.events import Event
from runtime.history.state_at import History
from runtime.sessions.session_key import SessionKey

DIFFERENT = 1  # exit status, as diff's


def compare_sessions(options: Compare) -> int:
    """Compare two sessions event by event."""
    (left_key, left), (right_key, right) = (_read(options, number) for number in (0, 1))
    found = compare(left.events, right.events)
    if options.json:
        print_json(_json(found, (left_key, left), (right_key, right)))
        return DIFFERENT if _differ(found, left, right) else 0
    _print_totals(found, left_key, right_key)
    _print_rows(found, left.events, right.events)
    changes = state_differences(left, len(left) - 1, right, len(right) - 1)
    print_line("The final state is the same." if not changes else "The final state:")
    for change in changes:
        before = "—" if change.kind == "added" else preview(change.before)
        print_line(visible(f"  {change.key}: {before} | {'—' if change.kind == 'removed' else preview(change.after)}"))
    return DIFFERENT if _differ(found, left, right) else 0


def _differ(found: Comparison, left: History, right: History) -> bool:
    return found.first_difference is not None or bool(state_differences(left, len(left) - 1, right, len(right) - 1))


def _read(options: Compare, number: int) -> tuple[SessionKey, History]:
    """Return the key and history of one of the two sessions."""
    target = (options.db2 or options.db) if number else options.db
    app, user, session = (names[min(number, len(names) - 1)] if names else None for names in (options.app, options.user, options.session))
    with opened(target) as database:
        key = session_key([summary.key for summary in database.listing()], app, user, session, target)
        return key, database.history(key)


def _json(found: Comparison, left: tuple[SessionKey, History], right: tuple[SessionKey, History]) -> dict[str, Any]:
    events = (left[1].events, right[1].events)
    changes = state_differences(left[1], len(left[1]) - 1, right[1], len(right[1]) - 1)
    first = found.rows[found.first_difference] if found.first_difference is not None else None
    return {
        "left": {**left[0]._asdict(), **asdict(found.left)},
        "right": {**right[0]._asdict(), **asdict(found.right)},
        "first_difference": first and {"row": found.first_difference, **_ids(first, *events), "prompts": _prompts(first, *events)},
        "rows": [{**_ids(row, *events), "same": row.same, "differences": _differences(found, row, *events)} for row in found.rows],
        "state": [{"key": change.key, "left": change.before, "right": change.after, "kind": change.kind} for change in changes],
    }


def _ids(row: Row, left: Sequence[Event], right: Sequence[Event]) -> dict[str, str | None]:
    return {"left": _at(left, row.left, lambda event: event.id), "right": _at(right, row.right, lambda event: event.id)}


def _prompts(row: Row, left: Sequence[Event], right: Sequence[Event]) -> dict[str, Any]:
    """Return the conversations before the two events."""
    pairs = {"left": (left, row.left), "right": (right, row.right)}
    return {
        side: None if index is None else [content.model_dump(mode="json", exclude_none=True) for content in prompt_of(events, index)]
        for side, (events, index) in pairs.items()
    }


def _differences(found: Comparison, row: Row, left: Sequence[Event], right: Sequence[Event]) -> list[dict[str, Any]]:
    one, other = _at(left, row.left), _at(right, row.right)
    return [asdict(each) for each in differences_of(one, other, found.call_ids)] if one and other else []


def _at(events: Sequence[Event], index: int | None, take: Any = lambda event: event) -> Any:
    return None if index is None else take(events[index])


def _print_totals(found: Comparison, left: SessionKey, right: SessionKey) -> None:
    names = ("events", "invocations", "model_answers", "tool_calls", "prompt_tokens", "answer_tokens", "tokens")
    rows = [(name.replace("_", " "), _total(found.left, name), _total(found.right, name)) for name in names]
    rows.append(("seconds", f"{found.left.seconds:.1f}", f"{found.right.seconds:.1f}"))
    print_table(("", left.session_id, right.session_id), rows)


def _total(totals: Totals, name: str) -> str:
    """Return a total; both are counted by the reported tokens, so they are unknown where a model reports none."""
    is_unknown = (name == "model_answers" or name.endswith("tokens")) and totals.events and not totals.model_answers
    return "–" if is_unknown else str(getattr(totals, name))


def _print_rows(found: Comparison, left: Sequence[Event], right: Sequence[Event]) -> None:
    """Print the rows that differ, and how many equal rows are between them."""
    same = 0
    for row in found.rows:
        if row.same:
            same += 1
            continue
        _print_same(same)
        same = 0
        one, other = _at(left, row.left), _at(right, row.right)
        sign, number = ("≠", row.left) if one and other else ("<", row.left) if one else (">", row.right)
        print_line(visible(f"{sign} #{number} {_line(one or other)}"))
        for each in differences_of(one, other, found.call_ids) if one and other else ():
            print_line(visible(f"    {' '.join(filter(None, (each.area, each.name)))}: {preview(each.left)} | {preview(each.right)}"))
    _print_same(same)


def _print_same(count: int) -> None:
    if count:
        print_line(f"= {count} equal")


def _line(event: Event) -> str:
    presentation = describe(event)
    return f"{event.author}  {presentation.kind}  {presentation.summary}"
