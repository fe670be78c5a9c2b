"""Hooks around every step of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.support.lazy import lazy_exports

if TYPE_CHECKING:
    from runtime.plugins.base_plugin import BasePlugin
    from runtime.plugins.logging_plugin import LoggingPlugin
    from runtime.plugins.plugin_manager import PluginManager
    from runtime.plugins.tool_failures import ToolResultClassification, ToolResultClassifier

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "runtime.plugins.base_plugin": "BasePlugin",
        "runtime.plugins.logging_plugin": "LoggingPlugin",
        "runtime.plugins.plugin_manager": "PluginManager",
        "runtime.plugins.tool_failures": "ToolResultClassification ToolResultClassifier",
    },
)
