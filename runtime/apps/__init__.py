"""An app: a root agent with its plugins and whether its runs can be resumed."""

from runtime.apps.app import App, EventsCompactionConfig, ResumabilityConfig

__all__ = ["App", "EventsCompactionConfig", "ResumabilityConfig"]
