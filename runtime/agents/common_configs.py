"""google-adk's import path of `AgentRefConfig`, `ArgumentConfig` and `CodeConfig`."""

from runtime.configs.agent_config import AgentRefConfig, ArgumentConfig, CodeConfig

__all__ = ["AgentRefConfig", "ArgumentConfig", "CodeConfig"]
