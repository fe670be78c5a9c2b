"""Computes one metric of an eval with google-adk. It runs in the agent's environment, where nothing of Agent Inspector is installed.

It reads one JSON object from its input: `metric`, `criterion`, `actual` and `expected` (invocations of an eval case) and `folder`, the
agent's, for its `.env`. It prints one: `overall`, `turns` (scores or null) and `note` (why there is no score).
"""

import asyncio
import importlib
import inspect
import json
import sys
from pathlib import Path


def main() -> None:
    """Read the task, print the result."""
    given = json.loads(sys.stdin.read())
    file = Path(given["folder"]) / ".env"
    if file.is_file():
        importlib.import_module("dotenv").load_dotenv(file, override=False)
    try:
        found = asyncio.run(score(given))
    except Exception as error:
        found = {"overall": None, "turns": [], "note": f"google-adk cannot compute it: {type(error).__name__}: {error}"}
    sys.stdout.write("\n" + json.dumps(found) + "\n")


async def score(given: dict) -> dict:  # type: ignore[type-arg]
    """Return a metric's scores."""
    name = "google.adk.evaluation."
    config = importlib.import_module(name + "eval_config")
    registry = importlib.import_module(name + "metric_evaluator_registry").DEFAULT_METRIC_EVALUATOR_REGISTRY
    invocation = importlib.import_module(name + "eval_case").Invocation
    criteria = config.EvalConfig.model_validate({"criteria": {given["metric"]: given["criterion"]}})
    metric = next(one for one in config.get_eval_metrics_from_config(criteria) if one.metric_name == given["metric"])
    actual, expected = ([invocation.model_validate(one) for one in given[which]] for which in ("actual", "expected"))
    result = registry.get_evaluator(metric).evaluate_invocations(actual, expected)
    if inspect.isawaitable(result):
        result = await result
    turns = [one.score for one in result.per_invocation_results]
    return {"overall": result.overall_score, "turns": turns, "note": "" if result.overall_score is not None else "google-adk gave no score"}


if __name__ == "__main__":
    main()
