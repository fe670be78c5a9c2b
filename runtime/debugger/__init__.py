"""Hold, step and resume any async generator of events; with its plugin, also inside a run. Knows neither Qt nor the Runner.

The names are imported on first use: the plugin needs what agents are made of, and a window that only reads does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.support.lazy import lazy_exports

if TYPE_CHECKING:
    from runtime.debugger.breakpoint import Breakpoint
    from runtime.debugger.breakpoints import Breakpoints, BreakpointsFileError, condition_for
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

__getattr__ = lazy_exports(
    __name__,
    {
        "Block": "runtime.debugger.watchdog",
        "Breakpoint": "runtime.debugger.breakpoint",
        "Breakpoints": "runtime.debugger.breakpoints",
        "BreakpointsFileError": "runtime.debugger.breakpoints",
        "CallEditError": "runtime.debugger.calls",
        "Debugger": "runtime.debugger.debugger",
        "DebuggerState": "runtime.debugger.debugger",
        "Hold": "runtime.debugger.hold",
        "Interception": "runtime.debugger.interception",
        "ModelCall": "runtime.debugger.calls",
        "RaisedByHandError": "runtime.debugger.calls",
        "Report": "runtime.debugger.hold",
        "RunningAgent": "runtime.debugger.hold",
        "ToolCall": "runtime.debugger.calls",
        "Watchdog": "runtime.debugger.watchdog",
        "condition_for": "runtime.debugger.breakpoints",
    },
)
