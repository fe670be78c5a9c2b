"""Hold, step and go on, round any async generator of events. Knows neither Qt nor the Runner."""

from runtime.debugger.debugger import Debugger, DebuggerState

__all__ = ["Debugger", "DebuggerState"]
