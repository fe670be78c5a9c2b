"""google-adk's import path of `AgentConfig`."""

from runtime.configs.any_agent_config import AgentConfig, agent_config_discriminator

__all__ = ["AgentConfig", "agent_config_discriminator"]
