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

__all__ = [
    "Agent",
    "BaseAgent",
    "BaseAgentConfig",
    "BaseAgentState",
    "CallbackContext",
    "Context",
    "ContextCacheConfig",
    "InvocationContext",
    "LiveRequest",
    "LiveRequestQueue",
    "LlmAgent",
    "LoopAgent",
    "LoopAgentState",
    "McpInstructionProvider",
    "ParallelAgent",
    "ReadonlyContext",
    "RunConfig",
    "SequentialAgent",
    "SequentialAgentState",
    "ToolContext",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "BaseAgentConfig": "runtime.agents.base_agent_config",
        "Agent": "runtime.agents.llm_agent",
        "BaseAgent": "runtime.agents.base_agent",
        "BaseAgentState": "runtime.agents.base_agent",
        "CallbackContext": "runtime.contexts.context",
        "Context": "runtime.contexts.context",
        "ContextCacheConfig": "runtime.agents.context_cache_config",
        "LiveRequest": "runtime.agents.live_request_queue",
        "LiveRequestQueue": "runtime.agents.live_request_queue",
        "InvocationContext": "runtime.contexts.invocation_context",
        "LlmAgent": "runtime.agents.llm_agent",
        "LoopAgent": "runtime.agents.loop_agent",
        "LoopAgentState": "runtime.agents.loop_agent",
        "McpInstructionProvider": "runtime.agents.mcp_instruction_provider",
        "ParallelAgent": "runtime.agents.parallel_agent",
        "ReadonlyContext": "runtime.contexts.readonly_context",
        "RunConfig": "runtime.contexts.run_config",
        "SequentialAgent": "runtime.agents.sequential_agent",
        "SequentialAgentState": "runtime.agents.sequential_agent",
        "ToolContext": "runtime.contexts.context",
    },
)
