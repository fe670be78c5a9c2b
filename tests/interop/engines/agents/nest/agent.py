"""Agents that call agents as tools. Their model follows the request it gets, and writes down which tokens it has charged to whom."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.apps.app import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.tools import AgentTool, ToolContext
from google.genai import types

CHARGED = Path(__file__).with_name("charged.jsonl")
_writing = threading.Lock()


class Charging(BaseLlm):
    """Answers by the steps in the last request that is a JSON list: a text, a list of `[tool, arguments]`, or `{"fail": text}`."""

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        steps, turn = _steps(llm_request.contents)
        step = steps[turn] if turn < len(steps) else "Nothing more."
        if isinstance(step, dict):
            raise ConnectionError(step["fail"])
        prompt, answer = len(str(llm_request.contents)) % 997, len(str(step)) + 1
        with _writing, CHARGED.open("a") as file:
            file.write(json.dumps([self.model, prompt, answer]) + "\n")
        usage = types.GenerateContentResponseUsageMetadata(
            prompt_token_count=prompt, candidates_token_count=answer, total_token_count=prompt + answer
        )
        calls = (
            [types.Part(function_call=types.FunctionCall(name=name, args=args)) for name, args in step] if isinstance(step, list) else []
        )
        content = types.Content(role="model", parts=calls or [types.Part(text=step)])
        yield LlmResponse(content=content, usage_metadata=usage, model_version=self.model)


def _steps(contents: list[types.Content]) -> tuple[list[Any], int]:
    """Return the steps of the last request, and how many of them were taken."""
    taken = 0
    for content in reversed(contents):
        texts = [part.text for part in content.parts or [] if part.text]
        if content.role == "user" and texts and texts[-1].startswith("["):
            return json.loads(texts[-1]), taken
        taken += content.role == "model"
    return [], 0


def weather(city: str, tool_context: ToolContext) -> dict[str, Any]:
    """Return the weather of a city."""
    tool_context.state["city"] = city
    tool_context.state["temp:draft"] = "not for the disk"
    return {"sky": f"blue over {city}", "api_key": "horse-battery-7"}


def agent(name: str, *tools: Any, **more: Any) -> LlmAgent:
    return LlmAgent(name=name, model=Charging(model=f"model-of-{name}"), description=f"Is {name}.", tools=list(tools), **more)


deep = agent("deep", weather)
middle = agent("middle", AgentTool(agent=deep), weather)


async def ask_deep(request: str, tool_context: ToolContext) -> Any:
    """Ask the deep agent, as a function of the app's own does."""
    return await AgentTool(agent=deep).run_async(args={"request": request}, tool_context=tool_context)


def plain(request: str) -> str:
    """Return a text; what calls this looks like a call of an agent."""
    return f"No agent was asked: {request}"


inline = [agent("inline", weather, mode="single_turn")] if "mode" in LlmAgent.model_fields else []
hidden = AgentTool(agent=agent("hidden", weather), include_plugins=False)
root_agent = agent("nest", AgentTool(agent=middle), ask_deep, hidden, plain, sub_agents=inline)
app = App(name="nest_app", root_agent=root_agent)
