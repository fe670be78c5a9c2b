"""Execution of code written by models, on the model's side only."""

from runtime.code_executors.base_code_executor import BaseCodeExecutor
from runtime.code_executors.built_in_code_executor import BuiltInCodeExecutor

__all__ = ["BaseCodeExecutor", "BuiltInCodeExecutor"]
