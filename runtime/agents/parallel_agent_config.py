"""google-adk's import path of `ParallelAgentConfig`."""

from runtime.configs.agent_config import ParallelAgentConfig

__all__ = ["ParallelAgentConfig"]
