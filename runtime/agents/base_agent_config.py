"""google-adk's import path of `BaseAgentConfig`."""

from runtime.configs.agent_config import BaseAgentConfig

__all__ = ["BaseAgentConfig"]
