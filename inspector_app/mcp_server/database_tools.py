"""Questions about databases: their sessions, what they cost, how two sessions differ, what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector_app.analysis.doctor import by_severity, examine
from inspector_app.analysis.finding import Finding
from inspector_app.documents.event_notes import EventNotes
from inspector_app.mcp_server.answers import LINE, cut, event_row, page, short
from inspector_app.mcp_server.places import Places, opened
from inspector_app.mcp_server.reading_tools import DATABASE, PAGE, SESSION, on_thread, recorded_facts
from inspector_app.mcp_server.tool import Parameter, Tool
from inspector_app.presentation.costs import CostSum, cost_json, model_calls
from inspector_app.presentation.prices import Prices
from inspector_app.presentation.tokens import own_prices
from inspector_app.support.preferences import Preferences
from runtime.compare import compare, differences_of
from runtime.compare.comparison import state_differences
from runtime.history.invocations import earlier_unanswered, present
from runtime.storage.connections.database_url import without_password

_DIFFERENCES = 6  # events, and keys, of a comparison in one answer
_GROUPS = 8  # agents and models in the costs of one answer
_FINDINGS = 5  # in one answer; each is a few sentences


def database_tools(places: Places) -> list[Tool]:
    """Return the tools that look at whole databases."""
    questions = _Questions(places)
    return [
        Tool(
            "which_sessions",
            "The sessions, the newest first, and their items that wait for a person. Ask this first.",
            {"database": DATABASE, "page": PAGE},
            on_thread(questions.which_sessions),
        ),
        Tool(
            "what_did_it_cost",
            "Tokens and costs of a session, by agent and model.",
            {"session": SESSION, "database": DATABASE},
            on_thread(questions.what_did_it_cost),
        ),
        Tool(
            "what_differs",
            "Two sessions side by side: the first event that differs, the others, and the final state. Ids and times are ignored.",
            {
                "session": Parameter("The first session's id, or its beginning.", is_needed=True),
                "other_session": Parameter("The second session's id, or its beginning.", is_needed=True),
                "database": DATABASE,
                "other_database": Parameter("The second session's database, if it is another one."),
            },
            on_thread(questions.what_differs),
        ),
        Tool(
            "what_is_wrong",
            "Known problems: calls without results, lost writes, state that its events do not give, wrong order, damaged rows.",
            {"session": Parameter("Only this session. Default: the whole database."), "database": DATABASE, "page": PAGE},
            on_thread(questions.what_is_wrong),
        ),
    ]


class _Questions:
    """Answers the questions about databases."""

    def __init__(self, places: Places) -> None:
        self._places = places

    def which_sessions(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        rows: list[tuple[float, dict[str, Any]]] = []
        targets = self._places.database(given["database"]) if given["database"] or self._places.databases else []
        for target in targets:
            with opened(target) as database:
                waiting = database.pending()
                titles = database.titles(names=EventNotes(target).names(database))
                for summary in database.listing():
                    key = summary.key
                    row: dict[str, Any] = {
                        "session": key.session_id,
                        "title": titles.get(key, ""),
                        "app": key.app_name,
                        "user": key.user_id,
                        "events": summary.event_count,
                    }
                    if len(targets) > 1:
                        row["database"] = without_password(target)
                    if earlier := earlier_unanswered(waiting.get(key, ())):
                        row["earlier"] = earlier
                    if items := present(waiting.get(key, ())):
                        row["pending"] = [" ".join(filter(None, (item.kind, item.name))) for item in items[:3]]
                    rows.append((summary.last_update_time, row))
        shown, rest = page([row for _, row in sorted(rows, key=lambda each: -each[0])], given["page"])
        return {
            "databases": [*map(without_password, targets)],
            "agents": self._places.agents,
            "sessions": shown,
            **rest,
            "next": "what_happened(session=…), or what_is_wrong() for known problems." if rows else "run_agent, or name a database.",
        }

    def what_did_it_cost(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        target, key = self._places.session(given["database"], given["session"])
        prices = Prices(own_prices(Preferences().prices))
        total, groups = CostSum(), dict[tuple[str, str], CostSum]()
        with opened(target) as database:
            for call in model_calls(key, database.plain_events(key), prices, recorded_facts(target, key)):
                total.add(call)
                groups.setdefault((call.agent, call.model or "not named"), CostSum()).add(call)
        largest = sorted(groups.items(), key=lambda each: -(each[1].tokens.input + each[1].tokens.output))[:_GROUPS]
        return {
            "session": key.session_id,
            "total": cost_json(total),
            "by_agent": [{"agent": agent, "model": model, **_brief(found)} for (agent, model), found in largest],
            "next": "what_happened(where='tokens.total > 5000') finds the large calls." if total.calls else "No event reports its tokens.",
        }

    def what_differs(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        sides = []
        for database, session in (
            (given["database"], given["session"]),
            (given["other_database"] or given["database"], given["other_session"]),
        ):
            target, key = self._places.session(database, session)
            with opened(target) as stored:
                sides.append(stored.history(key, plain=True))
        left, right = sides
        found = compare(left.events, right.events)
        rows = []
        for row in found.rows:
            if row.same:
                continue
            one = left.events[row.left] if row.left is not None else None
            other = right.events[row.right] if row.right is not None else None
            entry: dict[str, Any] = {}
            if one is not None and other is not None:
                entry = {"both": event_row((row.left or 0) + 1, one) | {"other_n": (row.right or 0) + 1}}
                parts = differences_of(one, other, found.call_ids)
                entry["changes"] = [f"{each.area} {each.name}: {short(each.left)} | {short(each.right)}" for each in parts[:3]]
            elif one is not None:
                entry = {"only_in_session": event_row((row.left or 0) + 1, one)}
            elif other is not None:
                entry = {"only_in_other": event_row((row.right or 0) + 1, other)}
            rows.append(entry)
        changes = state_differences(left, len(left) - 1, right, len(right) - 1)
        keys = {change.key: [short(change.before), short(change.after)] for change in changes[:_DIFFERENCES]}
        return {
            "same": not rows and not changes,
            "events": [len(left), len(right)],
            "different_events": len(rows),
            "differences": rows[:_DIFFERENCES],
            "different_keys": len(changes),
            "final_state": keys,
            "next": "The first difference is the cause of the others. what_happened(event=…) shows it whole." if rows else "",
        }

    def what_is_wrong(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        only = None
        if given["session"] is not None:
            target, only = self._places.session(given["database"], given["session"])
            targets = [target]
        else:
            targets = self._places.database(given["database"])
        found: list[Finding] = []
        for target in targets:
            with opened(target) as database:
                found += examine(database, without_password(target), only=only, prices=Prices(own_prices(Preferences().prices)))
        rows = [
            {
                "level": each.level,
                "kind": each.kind,
                **({"session": each.key.session_id} if each.key else {}),
                **({"event": each.event_id[:16]} if each.event_id else {}),
                "what": cut(each.what, 2 * LINE),
                "why": cut(each.why, 2 * LINE),
                "do": cut(each.advice, LINE),
            }
            for each in by_severity(found)
        ]
        shown, rest = page(rows, given["page"], _FINDINGS)
        say = "what_happened(event=…) shows an event of a finding." if rows else "No findings. Ask what_happened."
        return {"findings": shown, **rest, "next": say}


def _brief(found: CostSum) -> dict[str, Any]:
    return {name: value for name, value in cost_json(found).items() if value}
