"""google-adk's import path of `LoopAgentConfig`."""

from runtime.configs.agent_config import LoopAgentConfig

__all__ = ["LoopAgentConfig"]
