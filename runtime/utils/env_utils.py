"""google-adk's import path of questions about environment variables."""

from runtime.support.environment import is_enterprise_mode_enabled, is_env_enabled

__all__ = ["is_enterprise_mode_enabled", "is_env_enabled"]
