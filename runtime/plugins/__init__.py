"""Hooks around every step of a run."""

from runtime.plugins.base_plugin import BasePlugin
from runtime.plugins.logging_plugin import LoggingPlugin
from runtime.plugins.plugin_manager import PluginManager

__all__ = ["BasePlugin", "LoggingPlugin", "PluginManager"]
