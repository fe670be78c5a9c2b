"""Hooks around every step of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.plugins.base_plugin import BasePlugin
from runtime.support.lazy import lazy_exports

if TYPE_CHECKING:
    from runtime.plugins.debug_logging_plugin import DebugLoggingPlugin
    from runtime.plugins.logging_plugin import LoggingPlugin
    from runtime.plugins.multimodal_tool_results_plugin import MultimodalToolResultsPlugin
    from runtime.plugins.plugin_manager import PluginManager
    from runtime.plugins.reflect_retry_model_plugin import ReflectAndRetryModelPlugin
    from runtime.plugins.reflect_retry_tool_plugin import ReflectAndRetryToolPlugin
    from runtime.plugins.tool_call_integrity_plugin import ToolCallIntegrityError, ToolCallIntegrityPlugin
    from runtime.plugins.tool_failures import ToolResultClassification, ToolResultClassifier

__all__ = [
    "BasePlugin",
    "DebugLoggingPlugin",
    "LoggingPlugin",
    "MultimodalToolResultsPlugin",
    "PluginManager",
    "ReflectAndRetryModelPlugin",
    "ReflectAndRetryToolPlugin",
    "ToolCallIntegrityError",
    "ToolCallIntegrityPlugin",
    "ToolResultClassification",
    "ToolResultClassifier",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "DebugLoggingPlugin": "runtime.plugins.debug_logging_plugin",
        "LoggingPlugin": "runtime.plugins.logging_plugin",
        "PluginManager": "runtime.plugins.plugin_manager",
        "MultimodalToolResultsPlugin": "runtime.plugins.multimodal_tool_results_plugin",
        "ReflectAndRetryModelPlugin": "runtime.plugins.reflect_retry_model_plugin",
        "ToolCallIntegrityError": "runtime.plugins.tool_call_integrity_plugin",
        "ToolCallIntegrityPlugin": "runtime.plugins.tool_call_integrity_plugin",
        "ReflectAndRetryToolPlugin": "runtime.plugins.reflect_retry_tool_plugin",
        "ToolResultClassification": "runtime.plugins.tool_failures",
        "ToolResultClassifier": "runtime.plugins.tool_failures",
    },
)
