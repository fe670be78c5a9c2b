"""google-adk's import path of `LlmAgentConfig`."""

from runtime.configs.agent_config import LlmAgentConfig

__all__ = ["LlmAgentConfig"]
