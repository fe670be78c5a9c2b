"""google-adk's import path of `BaseToolConfig`, `ToolArgsConfig` and `ToolConfig`."""

from runtime.configs.agent_config import BaseToolConfig, ToolArgsConfig, ToolConfig

__all__ = ["BaseToolConfig", "ToolArgsConfig", "ToolConfig"]
