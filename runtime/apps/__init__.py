"""Apps: a root agent with its plugins and settings."""

from runtime.apps.app import App, EventsCompactionConfig, ResumabilityConfig

__all__ = ["App", "EventsCompactionConfig", "ResumabilityConfig"]
