"""The commands of a run."""

from __future__ import annotations

from inspector_app.widgets.places import Places


class RunningCommands:
    """The commands of a run, in the menu *Run* and in the tool bar.

    Args:
        places: places them.
    """

    def __init__(self, places: Places) -> None:
        add = places.command
        self.run = add("run", "Run", "play", "F5", menu="Run", at=1, role="accent", needs="workbench")
        self.pause = add("pause", "Pause", "pause", "F6", menu="Run", at=2)
        self.stop = add("stop", "Stop", "stop", "Shift+F5", menu="Run", at=3, role="bad")
        self.step = add("step", "Step", "forward-step", "F10", menu="Run", at=11, role="accent", needs="workbench")
        self.step_over = add("step_over", "Step over", "share", "Shift+F10", menu="Run", at=12, role="accent", needs="workbench")
        self.step_into = add("step_into", "Step into", "arrow-turn-down", "F11", menu="Run", at=13, role="accent", needs="workbench")
        self.step_out = add(
            "step_out", "Step out", "arrow-up-from-bracket", "Shift+F11", menu="Run", at=14, role="accent", needs="workbench"
        )
        to = "Run to an event like this"
        self.run_to = add("run_to", to, "forward-fast", "Ctrl+F10", menu="Run", at=15, role="accent", needs="workbench")
        self.toggle_breakpoint = add("toggle_breakpoint", "Breakpoint…", "circle", "F9", menu="Run", at=16, role="bad", needs="workbench")
        self.resume = add("resume", "Resume", "clock-rotate-left", "Ctrl+Shift+R", menu="Run", at=21, role="warn", needs="workbench")
        self.write_message = add("write_message", "Write a message", "pen", "Ctrl+L", menu="Run", at=22, needs="open")
        self.answer_pending = add("answer_pending", "Answer pending item", "hand", "Ctrl+P", menu="Run", at=23, role="warn", needs="open")
        does = "Keep what models are asked in NAME.rec.db beside the database, without passwords and keys"
        self.record_requests = add("record_requests", "Record model requests", "circle-dot", menu="Run", at=42, does=does)
        self.record_requests.setCheckable(True)
        self.new_session = add("new_session", "New session", "plus", menu="", at=6, needs="workbench")
        self.new_session_with = add("new_session_with", "New session…", "plus", "Ctrl+N", menu="", at=6, needs="workbench")
        self.step_into.setIconText("Into")  # the tool bar has less room than the menus
        self.step_out.setIconText("Out")
        places.bar += [(self.run, True), (self.pause, False)]
        places.bar += [(action, True) for action in (self.step, self.step_into, self.step_out)]
        places.bar += [(self.stop, False), None, (self.resume, True), (self.new_session, True)]
