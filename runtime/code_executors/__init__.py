"""Execution of code written by models."""

from runtime.code_executors.base_code_executor import BaseCodeExecutor
from runtime.code_executors.built_in_code_executor import BuiltInCodeExecutor
from runtime.code_executors.code_executor_context import CodeExecutorContext
from runtime.code_executors.unsafe_local_code_executor import UnsafeLocalCodeExecutor

__all__ = ["BaseCodeExecutor", "BuiltInCodeExecutor", "CodeExecutorContext", "UnsafeLocalCodeExecutor"]
