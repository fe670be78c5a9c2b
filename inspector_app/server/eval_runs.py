"""Runs of eval cases, and how their answers compare with the expected ones."""

from __future__ import annotations

import re
import sys
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

from inspector_app.engines.adk_worker.errors import formatted
from inspector_app.server.agents import ServedAgent
from inspector_app.server.eval_files import EvalError
from inspector_app.server.eval_models import EVAL_SESSION_PREFIX, EvalCase, Invocation, invocations_of
from inspector_app.server.json_shapes import session_json
from runtime.sessions.session_key import SessionKey

PASSED, FAILED, NOT_EVALUATED = 1, 2, 3  # google-adk's EvalStatus
Score = Callable[[Invocation, Invocation], float]


def same_calls(actual: Invocation, expected: Invocation) -> float:
    """Return 1.0 if the same tools were called with the same arguments in the same order, 0.0 otherwise."""
    return float([(call.name, call.args or {}) for call in actual.calls] == [(call.name, call.args or {}) for call in expected.calls])


def same_words(actual: Invocation, expected: Invocation) -> float:
    """Return how much the words of two answers agree: ROUGE-1's F-measure, from 0 to 1."""
    ours, theirs = Counter(_words(actual)), Counter(_words(expected))
    common = (ours & theirs).total()
    return 2 * common / (ours.total() + theirs.total()) if common else 0.0


def _words(invocation: Invocation) -> list[str]:
    parts = (invocation.final_response.parts if invocation.final_response else None) or []
    return re.findall(r"[a-z0-9]+", " ".join(part.text for part in parts if part.text).lower())


_INTERVAL = {"interval": {"minValue": 0.0, "openAtMin": False, "maxValue": 1.0, "openAtMax": False}}
# Name → what it computes, and its description. google-adk's other metrics ask a language model or another service.
METRICS: dict[str, tuple[Score, str]] = {
    "tool_trajectory_avg_score": (
        same_calls,
        "This metric compares two tool call trajectories (expected vs. actual) for the same user interaction. It scores 1.0 if they are"
        " the same, 0.0 otherwise.",
    ),
    "response_match_score": (
        same_words,
        "This metric compares the words of the agent's final answer with those of the expected one, by ROUGE-1. Values near 1 are better.",
    ),
}


def metrics_info() -> list[dict[str, Any]]:
    """Describe the metrics in google-adk's form."""
    return [
        {"metricName": name, "description": text, "metricValueInfo": _INTERVAL, "requiresThreshold": True}
        for name, (_, text) in METRICS.items()
    ]


def threshold_of(metric: dict[str, Any]) -> float:
    """Return the score from which a metric's case passes.

    Args:
        metric: google-adk's metric, with its names in snake_case.

    Raises:
        EvalError: the metric is not known, or has no threshold.
    """
    name = metric.get("metric_name")
    if name not in METRICS:
        raise EvalError(f"The metric {name!r} is not available here; these are: {', '.join(METRICS)}. `adk eval` has the others.")
    threshold = (metric.get("criterion") or {}).get("threshold", metric.get("threshold"))
    if not isinstance(threshold, int | float):
        raise EvalError(f"Evaluation metric {name!r} requires a threshold.")
    return float(threshold)


async def run_case(agent: ServedAgent, eval_set_id: str, case: EvalCase, metrics: list[dict[str, Any]]) -> dict[str, Any]:
    """Run a case in a session of its own, and return its result with google-adk's stored names.

    Raises:
        EvalError: the case cannot be run, or a metric cannot be computed.
    """
    if case.conversation is None:
        raise EvalError(f"The case {case.eval_id!r} is a scenario for a simulated user. `adk eval` runs it; the others run here.")
    thresholds = [(metric, threshold_of(metric)) for metric in metrics]
    user_id = case.session_input.user_id if case.session_input else "test_user_id"
    key = SessionKey(agent.name, user_id, f"{EVAL_SESSION_PREFIX}{uuid.uuid4()}")
    actual = []
    try:
        async for made in _repeated(agent, key, case):
            actual.append(made)
        statuses = []
    except Exception as error:
        # The agent's failure is the case's: what it did before is compared all the same.
        sys.stderr.write(formatted(error, error.__traceback__))
        statuses = [FAILED]
    pairs = list(zip(actual, case.conversation, strict=False))
    results = [_metric_result(metric, threshold, pairs) for metric, threshold in thresholds]
    stored = await agent.sessions.get_session(app_name=key.app_name, user_id=key.user_id, session_id=key.session_id)
    return {
        "eval_set_file": eval_set_id,
        "eval_set_id": eval_set_id,
        "eval_id": case.eval_id,
        "final_eval_status": _together([*statuses, *(result["eval_status"] for result in results)]),
        "overall_eval_metric_results": results,
        "eval_metric_result_per_invocation": [
            {
                "actual_invocation": ours.model_dump(mode="json", exclude_none=True),
                "expected_invocation": theirs.model_dump(mode="json", exclude_none=True),
                "eval_metric_results": [_metric_result(metric, threshold, [(ours, theirs)]) for metric, threshold in thresholds],
            }
            for ours, theirs in pairs
        ],
        "session_id": key.session_id,
        "session_details": session_json(stored) if stored is not None else None,
        "user_id": user_id,
    }


async def _repeated(agent: ServedAgent, key: SessionKey, case: EvalCase) -> AsyncIterator[Invocation]:
    runner = await agent.runner()
    state = case.session_input.state if case.session_input else {}
    await agent.sessions.create_session(app_name=key.app_name, user_id=key.user_id, session_id=key.session_id, state=state)
    for expected in case.conversation or []:
        run = runner.run_async(user_id=key.user_id, session_id=key.session_id, new_message=expected.user_content)
        async with aclosing(agent.in_environment(run)) as events:
            found = [event async for event in events if not event.partial]
        (made,) = invocations_of(found) if found else [Invocation(user_content=expected.user_content)]
        made.user_content = expected.user_content
        yield made


def _metric_result(metric: dict[str, Any], threshold: float, pairs: list[tuple[Invocation, Invocation]]) -> dict[str, Any]:
    score_of = METRICS[metric["metric_name"]][0]
    score = sum(score_of(ours, theirs) for ours, theirs in pairs) / len(pairs) if pairs else None
    status = NOT_EVALUATED if score is None else PASSED if score >= threshold else FAILED
    return {**metric, "threshold": threshold, "score": score, "eval_status": status, "details": {}}


def _together(statuses: list[int]) -> int:
    if FAILED in statuses:
        return FAILED
    return PASSED if PASSED in statuses else NOT_EVALUATED
