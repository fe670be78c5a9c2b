"""Metrics that a model judges, computed by the google-adk of the agent's environment."""

from __future__ import annotations

from collections.abc import Sequence

from inspector_app.analysis.eval_criteria import Criterion
from inspector_app.analysis.evals import Judge, Score
from inspector_app.engines.adk_judge import judging
from inspector_app.engines.engine_choice import EnginePlan
from inspector_app.exchange.eval_cases import invocation_json
from inspector_app.exchange.eval_sets import EvalCase, Turn


def judge_of(plan: EnginePlan) -> Judge | None:
    """Return what computes the metrics that only google-adk has; None if the agent runs on another engine.

    Args:
        plan: what runs the agent.
    """
    compute = judging(plan)
    if compute is None:
        return None

    def judge(case: EvalCase, actual: Sequence[Turn], criterion: Criterion) -> Score:
        found = compute(
            {
                "metric": criterion.metric,
                "criterion": criterion.given,
                "actual": [invocation_json(turn) for turn in actual],
                "expected": [invocation_json(turn) for turn in case.turns],
            }
        )
        return Score(criterion.metric, criterion.threshold, tuple(found["turns"]), found["overall"], found["note"])

    return judge
