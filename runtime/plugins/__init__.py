"""Hooks around every step of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.plugins.base_plugin import BasePlugin
from runtime.support.lazy import lazy_exports

if TYPE_CHECKING:
    from runtime.plugins.logging_plugin import LoggingPlugin
    from runtime.plugins.plugin_manager import PluginManager
    from runtime.plugins.tool_failures import ToolResultClassification, ToolResultClassifier

__all__ = [
    "BasePlugin",
    "LoggingPlugin",
    "PluginManager",
    "ToolResultClassification",
    "ToolResultClassifier",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "LoggingPlugin": "runtime.plugins.logging_plugin",
        "PluginManager": "runtime.plugins.plugin_manager",
        "ToolResultClassification": "runtime.plugins.tool_failures",
        "ToolResultClassifier": "runtime.plugins.tool_failures",
    },
)
