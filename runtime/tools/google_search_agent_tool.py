"""An agent that searches the web, as a tool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtime.history.agent_tree import AgentTree
from runtime.support.lazy import lazy_exports
from runtime.tools.agent_tool import AgentTool

__all__ = ["GoogleSearchAgentTool", "create_google_search_agent"]


class GoogleSearchAgentTool(AgentTool):
    """Lets an agent with other tools search the web: older Gemini models cannot search and call functions in one request.

    The sources that the search finds become those of the caller's answers.

    Args:
        agent: the agent that searches, such as `create_google_search_agent(model)`.
    """

    def __init__(self, agent: AgentTree) -> None:
        super().__init__(agent, propagate_grounding_metadata=True)


# Agents import tools, so the function that makes one is loaded when it is named.
create_google_search_agent: Callable[..., Any]
__getattr__, _ = lazy_exports(__name__, {"runtime.agents.llm_agent": "create_google_search_agent"})
