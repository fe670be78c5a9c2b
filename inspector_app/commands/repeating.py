"""`run --repeat N`: one message sent several times, each in a session of its own, and the runs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inspector_app.analysis.repeats import PathGroup, RunFacts, by_path, run_once
from inspector_app.commands import stdout
from inspector_app.commands.child_runs import message_of
from inspector_app.commands.driven import open_driven
from inspector_app.commands.options.running import Run
from inspector_app.commands.output import counted, print_json, print_line, print_table
from inspector_app.commands.selection import command_line
from inspector_app.presentation.costs import cost_json, cost_text
from inspector_app.presentation.prices import Prices
from inspector_app.presentation.values import preview, visible
from runtime.history.invocations import BROKEN, word_for
from runtime.support.ids import new_uuid

FAILED = 1


async def repeat(options: Run) -> int:
    """Send the message as often as asked; the exit status is 1 if a run failed."""
    assert options.repeat is not None
    assert options.message is not None  # both are checked
    prices = Prices()
    name = options.session or new_uuid()[:8]
    async with open_driven(options) as agent:
        runs = []
        for number in range(1, options.repeat + 1):
            key = await agent.new_session(options.user, options.state or {}, f"{name}-{number}")
            runs.append(await run_once(agent, key, [message_of(options.message)], prices))
            stdout.complain("" if options.json else f"run {number} of {options.repeat}: {word_for(runs[-1].status)}\n")
    groups = by_path(runs)
    if options.json:
        print_json({"paths": [_group_json(group) for group in groups]})
    else:
        _print(groups, options)
    return FAILED if any(run.status in BROKEN for run in runs) else 0


def _group_json(group: PathGroup) -> dict[str, Any]:
    return {"path": list(group.path), "count": len(group.runs), "runs": [_run_json(run) for run in group.runs]}


def _run_json(run: RunFacts) -> dict[str, Any]:
    return {
        "session_id": run.key.session_id,
        "user_id": run.key.user_id,
        "app_name": run.key.app_name,
        "status": run.status,
        "error": run.error,
        "answer": run.answer,
        "events": run.events,
        "seconds": round(run.seconds, 3),
        **cost_json(run.cost),
    }


def _print(groups: Sequence[PathGroup], options: Run) -> None:
    rows = []
    for group in groups:
        path = " · ".join(group.path) or "no tools"
        for number, run in enumerate(group.runs):
            tokens = f"{run.cost.tokens.input + run.cost.tokens.output:,}"
            said = run.error or preview(run.answer, 60)
            first = f"{path} ({len(group.runs)}×)" if number == 0 else ""
            rows.append((first, run.key.session_id, word_for(run.status), f"{run.seconds:.2f} s", tokens, cost_text(run.cost), said))
    print_table(("PATH", "SESSION", "STATUS", "TIME", "TOKENS", "COST", "ANSWER"), rows, ids=1)
    runs = sum(len(group.runs) for group in groups)
    print_line(f"{counted(runs, 'run')} took {counted(len(groups), 'path')}.")
    if options.db and len(groups) > 1:
        one, other = groups[0].runs[0].key, groups[1].runs[0].key
        words = ("--app", one.app_name, "--user", one.user_id, "--session", one.session_id, "--session", other.session_id)
        print_line(f"Compare two paths: {visible(command_line('compare', options.db, *words))}")
