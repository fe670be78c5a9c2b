"""Prints the scores that google-adk's own eval gives an agent: run it in an environment with `google-adk[eval]`.

Arguments: the agent's folder, the eval set, the config or nothing. The output's last line is `{case: {metric: score}}` as JSON.
"""

import asyncio
import json
import sys

from google.adk.cli.cli_eval import _collect_eval_results, _collect_inferences, get_app_or_root_agent
from google.adk.evaluation.base_eval_service import InferenceConfig, InferenceRequest
from google.adk.evaluation.eval_config import get_eval_metrics_from_config, get_evaluation_criteria_or_default
from google.adk.evaluation.in_memory_eval_sets_manager import InMemoryEvalSetsManager
from google.adk.evaluation.local_eval_service import LocalEvalService
from google.adk.evaluation.local_eval_sets_manager import load_eval_set_from_file


def main() -> None:
    """Do what `adk eval` does."""
    folder, file, *config = sys.argv[1:]
    app, root_agent = asyncio.run(get_app_or_root_agent(folder))
    found = load_eval_set_from_file(file, file)
    sets = InMemoryEvalSetsManager()
    sets.create_eval_set(app_name="clerk", eval_set_id=found.eval_set_id)
    for case in found.eval_cases:
        sets.add_eval_case(app_name="clerk", eval_set_id=found.eval_set_id, eval_case=case)
    service = LocalEvalService(root_agent=root_agent, eval_sets_manager=sets, app=app)
    request = InferenceRequest(app_name="clerk", eval_set_id=found.eval_set_id, inference_config=InferenceConfig())
    metrics = get_eval_metrics_from_config(get_evaluation_criteria_or_default(config[0] if config else None))
    inferences = asyncio.run(_collect_inferences(inference_requests=[request], eval_service=service))
    results = asyncio.run(_collect_eval_results(inference_results=inferences, eval_service=service, eval_metrics=metrics))
    scores = {
        result.eval_id: {
            **{one.metric_name: one.score for one in result.overall_eval_metric_results if one.metric_name.endswith("_score")},
            "status": result.final_eval_status.name.lower(),
        }
        for result in results
    }
    sys.stdout.write("\n" + json.dumps(dict(sorted(scores.items()))) + "\n")


if __name__ == "__main__":
    main()
