"""google-adk's import path of what reads YAML files."""

from runtime.configs.agent_builder import (
    from_config,
    resolve_agent_reference,
    resolve_callbacks,
    resolve_code_reference,
    resolve_fully_qualified_name,
)

__all__ = ["from_config", "resolve_agent_reference", "resolve_callbacks", "resolve_code_reference", "resolve_fully_qualified_name"]
