"""Hooks around every step of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.plugins.base_plugin import BasePlugin
from runtime.plugins.logging_plugin import LoggingPlugin
from runtime.plugins.plugin_manager import PluginManager
from runtime.support.lazy import lazy_exports

if TYPE_CHECKING:
    from runtime.plugins.reflect_retry_tool_plugin import ReflectAndRetryToolPlugin

__all__ = ["BasePlugin", "LoggingPlugin", "PluginManager", "ReflectAndRetryToolPlugin"]

__getattr__ = lazy_exports(__name__, {"ReflectAndRetryToolPlugin": "runtime.plugins.reflect_retry_tool_plugin"})
