"""google-adk's import path of `SequentialAgentConfig`."""

from runtime.configs.agent_config import SequentialAgentConfig

__all__ = ["SequentialAgentConfig"]
