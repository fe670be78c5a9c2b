"""The subcommand that sums the tokens and costs of a database."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from inspector_app.commands import stdout
from inspector_app.commands.options.reading import Costs
from inspector_app.commands.output import print_json, print_table
from inspector_app.commands.pricing import known_prices, recorded_facts
from inspector_app.commands.reading import opened
from inspector_app.commands.selection import existing_key
from inspector_app.presentation.costs import CostSum, ModelCall, cost_json, cost_text, missing_text, model_calls
from inspector_app.presentation.prices import Prices
from inspector_app.presentation.values import counted
from runtime.sessions.recorded_facts import RecordedFacts
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.reader import StoredDatabase

Groups = Callable[[ModelCall], tuple[str, ...]]

GROUPS: dict[str, Groups] = {
    "session": lambda call: (call.key.session_id,),
    "agent": lambda call: (call.agent,),
    "model": lambda call: (call.model or "(not named)",),
    "tool": lambda call: call.tools or ("(no tool)",),
    "invocation": lambda call: (call.invocation_id,),
    "call": lambda call: (call.event_id,),
}
"""Each name of a grouping, and the groups to which a call belongs. A call of several tools counts for each."""


def costs(options: Costs) -> int:
    """Sum the model calls of a database or of one session."""
    prices = known_prices(dict(options.price or ()))
    with opened(options.db) as database:
        keys = _keys(database, options)
        by = options.by or ("session" if len(keys) > 1 else "agent")
        sums: dict[tuple[str, ...], CostSum] = {}
        total = CostSum()
        models: set[str] = set()
        for call in _calls(database, keys, prices, recorded_facts(options.db), options.model):
            total.add(call)
            if call.cost is None and call.model:
                models.add(call.model)
            for name in GROUPS[by](call):
                group = (call.key.app_name, call.key.user_id, name) if by == "session" else (name,)
                sums.setdefault(group, CostSum()).add(call)
    if options.json:
        named = [{by: group[-1], **({"app_name": group[0], "user_id": group[1]} if by == "session" else {})} for group in sums]
        groups = [{**name, **cost_json(found)} for name, found in zip(named, sums.values(), strict=True)]
        print_json({"by": by, "groups": groups, "total": cost_json(total), "prices": prices.source()})
        return 0
    columns = ("APP", "USER", "SESSION") if by == "session" else (by.upper(),)
    rows = [(*group, *_cells(found, total)) for group, found in sums.items()]
    if len(rows) > 1 and by != "tool":
        rows.append((*("total", "", "")[: len(columns)], *_cells(total, total)))
    headings = (*columns, "CALLS", *(("NESTED",) if total.nested else ()), "INPUT", "CACHED", "OUTPUT", "COST")
    print_table(headings, rows, "No event reports tokens.", ids=len(columns) - 1)
    if total.unpriced < total.calls:
        stdout.complain(f"agent-inspector: Prices are from {prices.source()}.\n")
    if total.unpriced and rows:
        stdout.complain(_unpriced(total, sorted(models)))
    if total.not_recorded:
        stdout.complain(f"agent-inspector: The total is {missing_text(total)}. Runs that are recorded from now on have them.\n")
    return 0


def _keys(database: StoredDatabase, options: Costs) -> list[SessionKey]:
    if options.session is not None:
        return [existing_key(database, options)]
    return [
        summary.key
        for summary in database.listing()
        if options.app in (None, summary.key.app_name) and options.user in (None, summary.key.user_id)
    ]


def _calls(
    database: StoredDatabase, keys: list[SessionKey], prices: Prices, recorded: RecordedFacts, model: str | None
) -> Iterator[ModelCall]:
    for key in keys:
        yield from model_calls(key, database.plain_events(key), prices, recorded, model)


def _cells(found: CostSum, total: CostSum) -> tuple[str, ...]:
    tokens, nested = found.tokens, (f"{found.nested:,}",) if total.nested else ()
    return f"{found.calls:,}", *nested, f"{tokens.input:,}", f"{tokens.cached:,}", f"{tokens.output:,}", cost_text(found)


def _unpriced(total: CostSum, models: list[str]) -> str:
    calls = counted(total.unpriced, "call")
    if not models:
        return f"agent-inspector: The price of {calls} is unknown: their events do not name the model. Name it with --model.\n"
    named = ", ".join(models[:5])
    return f"agent-inspector: The price of {calls} is unknown ({named}). Give it with --price {models[0]}=INPUT,OUTPUT.\n"
