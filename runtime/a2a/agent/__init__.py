"""google-adk 2's import path of remote agents."""

from runtime.agents.remote_a2a_agent import A2AClientError, AgentCardResolutionError, RemoteA2aAgent

__all__ = ["A2AClientError", "AgentCardResolutionError", "RemoteA2aAgent"]
