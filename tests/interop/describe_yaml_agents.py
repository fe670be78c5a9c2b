"""Print what google-adk loads from YAML files, as JSON: `python describe_yaml_agents.py FOLDER`; each folder in it is an agent.

It also runs in google-adk's Python, so it imports nothing of ours.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

HOOKS = ("before_agent", "after_agent", "before_model", "after_model", "before_tool", "after_tool")
FIELDS = (
    "name",
    "description",
    "instruction",
    "static_instruction",
    "output_key",
    "include_contents",
    "disallow_transfer_to_parent",
    "disallow_transfer_to_peers",
    "max_iterations",
    "litres",
)


def described(agent: Any) -> dict[str, Any]:
    """Return an agent and those below it as JSON."""
    found: dict[str, Any] = {name: getattr(agent, name, None) for name in FIELDS}
    found["class"] = type(agent).__name__
    model = getattr(agent, "model", None)
    found["model"] = model if isinstance(model, str) or model is None else f"{type(model).__name__}({model.model})"
    config = getattr(agent, "generate_content_config", None)
    found["config"] = config and config.model_dump(mode="json", exclude_none=True)
    found["schemas"] = [getattr(getattr(agent, name, None), "__name__", None) for name in ("input_schema", "output_schema")]
    found["tools"] = [tool_of(tool) for tool in getattr(agent, "tools", ())]
    for hook in HOOKS:
        callbacks = getattr(agent, f"{hook}_callback", None) or []
        found[hook] = [one.__name__ for one in (callbacks if isinstance(callbacks, list) else [callbacks])]
    found["sub_agents"] = [described(one) for one in agent.sub_agents]
    return found


def tool_of(tool: Any) -> dict[str, Any]:
    """Return a tool as JSON."""
    if not hasattr(tool, "process_llm_request"):
        return {"function": tool.__name__}
    own = tool.description if type(tool).__name__ in ("Shelf", "Own", "FunctionTool") else None
    inner = getattr(tool, "agent", None)
    return {
        "class": type(tool).__name__,
        "name": tool.name,
        "description": own,
        "skip_summarization": getattr(tool, "skip_summarization", None),
        "agent": inner and described(inner),
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    from google.adk.agents import config_agent_utils

    folder = Path(sys.argv[1])
    sys.path.insert(0, str(folder))
    agents = {}
    for file in sorted(folder.glob("*/root_agent.yaml")):
        try:
            agents[file.parent.name] = described(config_agent_utils.from_config(str(file)))
        except Exception as error:  # compared with ours
            agents[file.parent.name] = {"error": f"{type(error).__name__}: {error}"}
    sys.stdout.write(json.dumps(agents) + "\n")
