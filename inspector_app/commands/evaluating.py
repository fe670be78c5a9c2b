"""The `eval` subcommand: eval sets run on an agent, with their scores."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from google.genai import types

from inspector_app.analysis.eval_answers import said_by_user
from inspector_app.analysis.eval_criteria import Criterion, criteria_for
from inspector_app.analysis.eval_scores import RESPONSE
from inspector_app.analysis.evals import CaseResult, Evaluation, Score
from inspector_app.analysis.judging import judge_of
from inspector_app.commands import stdout
from inspector_app.commands.driven import open_driven
from inspector_app.commands.options.running import Eval
from inspector_app.commands.output import counted, print_json, print_line, print_table
from inspector_app.commands.selection import command_line
from inspector_app.exchange.eval_cases import expected_copy
from inspector_app.exchange.eval_sets import EvalSet, EvalSetError, Turn, read_eval_set
from inspector_app.presentation.values import preview, visible
from runtime.sessions.session_key import SessionKey
from runtime.storage.open_service import open_session_service

FAILED = 1
EXPECTED = "-expected"  # ends the id of the session with what a failed case expected


def evaluate(options: Eval) -> int:
    """Run eval sets on an agent; the exit status is 1 unless all cases passed."""
    sets = [_read(given) for given in options.eval_sets]
    criteria = criteria_for(options.config, [file for file, _ in sets])
    with stdout.kept_for_answers():
        results, left_out = asyncio.run(_run(options, [each for _, each in sets], criteria))
    if options.json:
        print_json(_json(results))
    else:
        _print(results, options)
    return 0 if results and not left_out and all(result.status == "passed" for result in results) else FAILED


def _read(given: str) -> tuple[Path, EvalSet]:
    """Return an eval set, or the cases of it that are named after a colon, as `adk eval` takes them."""
    if Path(given).exists() or ":" not in given:
        return Path(given), read_eval_set(Path(given))
    name, _, wanted = given.rpartition(":")
    found = read_eval_set(Path(name))
    ids = [one.strip() for one in wanted.split(",")]
    for one in ids:
        if one not in {case.id for case in found.cases}:
            raise EvalSetError(f"{name} has no case {one!r}. It has: {', '.join(visible(case.id) for case in found.cases)}.")
    return Path(name), EvalSet(found.id, tuple(case for case in found.cases if case.id in ids))


async def _run(options: Eval, sets: Sequence[EvalSet], criteria: Sequence[Criterion]) -> tuple[list[CaseResult], bool]:
    """Return how the cases went, and whether a metric was left out for want of a package."""
    async with open_driven(options) as agent:
        evaluation = Evaluation(criteria, judge_of(agent.plan))
        evaluation.check()
        for metric, reason in evaluation.left_out.items():
            stdout.complain(f"agent-inspector: {metric} is not evaluated: it {reason}\n")
        results = []
        for each in sets:
            for case in each.cases:
                results.append(await evaluation.run(agent, each.id, case))
        app = agent.app_name
    if options.db:
        await _store_expected(options.db, app, results)
    return results, RESPONSE in evaluation.left_out


async def _store_expected(target: str, app: str, results: Sequence[CaseResult]) -> None:
    """Store what each failed case expected as a session beside the real one."""
    failed = [result for result in results if result.status == "failed" and result.key is not None and not result.case.is_simulated]
    if not failed:
        return
    async with open_session_service(target) as service:
        for result in failed:
            assert result.key is not None
            await service.store_copy(SessionKey(app, result.key.user_id, result.key.session_id + EXPECTED), expected_copy(result.case))


def _json(results: Sequence[CaseResult]) -> dict[str, Any]:
    cases = [
        {
            "eval_set": result.eval_set,
            "id": result.case.id,
            "status": result.status,
            "error": result.error,
            "session": None if result.key is None else dict(zip(("app_name", "user_id", "id"), result.key, strict=True)),
            "metrics": {score.metric: _score_json(score) for score in result.scores},
            "turns": [_turn_json(result, index) for index in range(len(result.case.turns))],
        }
        for result in results
    ]
    passed = sum(result.status == "passed" for result in results)
    return {"passed": passed, "failed": len(results) - passed, "cases": cases}


def _score_json(score: Score) -> dict[str, Any]:
    return {"score": score.overall, "threshold": score.threshold, "status": score.status, "turns": score.turns, "note": score.note}


def _turn_json(result: CaseResult, index: int) -> dict[str, Any]:
    actual = result.actual[index] if index < len(result.actual) else None
    return {
        "message": _content_json(result.case.turns[index].message),
        "expected": _done_json(result.case.turns[index]),
        "actual": None if actual is None else _done_json(actual),
    }


def _done_json(turn: Turn) -> dict[str, Any]:
    return {
        "calls": [{"name": call.name, "args": call.args} for call in turn.calls],
        "response": None if turn.response is None else _content_json(turn.response),
    }


def _content_json(content: types.Content) -> Any:
    return json.loads(content.model_dump_json(exclude_none=True))


def _print(results: Sequence[CaseResult], options: Eval) -> None:
    metrics = list(dict.fromkeys(score.metric for result in results for score in result.scores))
    rows = []
    for result in results:
        scores = {score.metric: score for score in result.scores}
        cells = [scores[metric].text if metric in scores else "" for metric in metrics]
        rows.append((result.case.id, result.status, *cells, result.key.session_id if result.key and options.db else ""))
    print_table(("CASE", "STATUS", *(metric.upper() for metric in metrics), "SESSION"), rows, "The eval sets have no cases.", ids=0)
    for result in results:
        if result.status != "passed":
            _print_failure(result, options)
    passed = sum(result.status == "passed" for result in results)
    print_line(f"{counted(passed, 'case')} of {len(results):,} passed.")


def _print_failure(result: CaseResult, options: Eval) -> None:
    print_line(f"\n{visible(result.case.id)}: {result.error or result.status}")
    for score in result.scores:
        if score.note:
            print_line(f"  {score.metric}: {score.note}")
    for number, (wanted, done) in enumerate(zip(result.case.turns, result.actual, strict=False), 1):
        print_line(f"  turn {number}: {preview(said_by_user(wanted.message), 80)}")
        for what, turn in (("expected", wanted), ("got", done)):
            calls = ", ".join(f"{call.name}({preview(call.args, 60)})" for call in turn.calls) or "no calls"
            said = " ".join(part.text for part in (turn.response.parts if turn.response else None) or () if part.text)
            print_line(f"    {what:9}{visible(calls)}; {preview(said, 100)}")
    if options.db and result.key is not None and result.status == "failed" and not result.case.is_simulated:
        key = result.key
        words = ("--app", key.app_name, "--user", key.user_id, "--session", key.session_id, "--session", key.session_id + EXPECTED)
        print_line(f"  Compare: {visible(command_line('compare', options.db, *words))}")
