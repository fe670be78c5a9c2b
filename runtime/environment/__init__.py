"""Folders in which agents run commands and work on files."""

from runtime.environment.base_environment import BaseEnvironment, ExecutionResult
from runtime.environment.local_environment import LocalEnvironment

__all__ = ["BaseEnvironment", "ExecutionResult", "LocalEnvironment"]
