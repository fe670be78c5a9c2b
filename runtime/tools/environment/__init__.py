"""Tools for running commands and working on files in an environment."""

from runtime.tools.environment.environment_toolset import EnvironmentToolset

__all__ = ["EnvironmentToolset"]
