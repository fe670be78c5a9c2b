"""Metrics that only google-adk has, such as those that a model judges, computed by the google-adk of the agent's environment."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from inspector_app.engines.engine_choice import EnginePlan
from inspector_app.engines.environments import child_variables

SCRIPT = Path(__file__).with_name("adk_judge_script.py")
SECONDS = 600  # a model judges each turn


def judging(plan: EnginePlan) -> Callable[[Mapping[str, Any]], dict[str, Any]] | None:
    """Return what computes a metric in the agent's environment; None if the agent does not run on google-adk.

    The function takes `metric`, `criterion`, `actual` and `expected` (invocations as JSON) and returns `overall`, `turns` and `note`.
    """
    if plan.kind != "adk":
        return None
    environment, agent = plan.decision.environment, Path(plan.decision.agent)
    folder = agent if agent.is_dir() else agent.parent

    def judge(given: Mapping[str, Any]) -> dict[str, Any]:
        try:
            done = subprocess.run(
                [str(environment.python), str(SCRIPT)],
                input=json.dumps({**given, "folder": str(folder)}),
                capture_output=True,
                text=True,
                timeout=SECONDS,
                env=child_variables(environment, agent),
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return {"overall": None, "turns": [], "note": f"google-adk did not answer: {error}"}
        try:
            found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        except (ValueError, IndexError):
            last: Sequence[str] = done.stderr.strip().splitlines()[-1:]
            return {"overall": None, "turns": [], "note": f"google-adk cannot compute it: {''.join(last) or 'no answer'}"}
        return found

    return judge
