"""Hold, step and resume any async generator of events; with its plugin, also inside a run. Knows neither Qt nor the Runner."""

from runtime.debugger.breakpoints import Breakpoint, Breakpoints, BreakpointsFileError, condition_for
from runtime.debugger.calls import CallEditError, ModelCall, RaisedByHandError, ToolCall
from runtime.debugger.debugger import Debugger, DebuggerState
from runtime.debugger.hold import Hold, Report, RunningAgent
from runtime.debugger.interception import Interception
from runtime.debugger.watchdog import Block, Watchdog

__all__ = [
    "Block",
    "Breakpoint",
    "Breakpoints",
    "BreakpointsFileError",
    "CallEditError",
    "Debugger",
    "DebuggerState",
    "Hold",
    "Interception",
    "ModelCall",
    "RaisedByHandError",
    "Report",
    "RunningAgent",
    "ToolCall",
    "Watchdog",
    "condition_for",
]
