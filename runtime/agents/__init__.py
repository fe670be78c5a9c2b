"""Agents and their contexts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.support.lazy import lazy_exports

if TYPE_CHECKING:
    from runtime.agents.base_agent import BaseAgent, BaseAgentState
    from runtime.agents.base_agent_config import BaseAgentConfig
    from runtime.agents.context_cache_config import ContextCacheConfig
    from runtime.agents.live_request_queue import LiveRequest, LiveRequestQueue
    from runtime.agents.llm_agent import Agent, LlmAgent
    from runtime.agents.loop_agent import LoopAgent, LoopAgentState
    from runtime.agents.mcp_instruction_provider import McpInstructionProvider
    from runtime.agents.parallel_agent import ParallelAgent
    from runtime.agents.sequential_agent import SequentialAgent, SequentialAgentState
    from runtime.contexts.context import CallbackContext, Context, ToolContext
    from runtime.contexts.invocation_context import InvocationContext
    from runtime.contexts.readonly_context import ReadonlyContext
    from runtime.contexts.run_config import RunConfig

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "runtime.agents.base_agent": "BaseAgent BaseAgentState",
        "runtime.agents.base_agent_config": "BaseAgentConfig",
        "runtime.agents.context_cache_config": "ContextCacheConfig",
        "runtime.agents.live_request_queue": "LiveRequest LiveRequestQueue",
        "runtime.agents.llm_agent": "Agent LlmAgent",
        "runtime.agents.loop_agent": "LoopAgent LoopAgentState",
        "runtime.agents.mcp_instruction_provider": "McpInstructionProvider",
        "runtime.agents.parallel_agent": "ParallelAgent",
        "runtime.agents.sequential_agent": "SequentialAgent SequentialAgentState",
        "runtime.contexts.context": "CallbackContext Context ToolContext",
        "runtime.contexts.invocation_context": "InvocationContext",
        "runtime.contexts.readonly_context": "ReadonlyContext",
        "runtime.contexts.run_config": "RunConfig",
    },
)
