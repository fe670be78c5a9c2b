"""What the engine cannot do."""

from __future__ import annotations

import inspect

from . import google_adk


def capabilities(resumable: bool) -> dict[str, str | None]:
    """Return what this version cannot do: name → a sentence; None if it can."""
    runner = google_adk.required("google.adk.runners", "Runner")
    plugin = google_adk.find_class("google.adk.plugins.base_plugin", "BasePlugin")
    confirmation = google_adk.find_class("google.adk.tools.tool_confirmation", "ToolConfirmation")
    version = google_adk.engine_name_first()

    def unless(possible: bool, sentence: str) -> str | None:
        return None if possible else sentence

    resumes = "invocation_id" in inspect.signature(runner.run_async).parameters
    not_resumable = "The app is not resumable: its App has no ResumabilityConfig(is_resumable=True)."
    return {
        "hold_calls": unless(plugin is not None, f"{version} has no plugins, so calls cannot be held; 1.7 and later have them."),
        "resume": unless(resumes, f"{version} cannot resume an invocation; 1.16 and later can.") or unless(resumable, not_resumable),
        "rewind": unless(hasattr(runner, "rewind_async"), f"{version} cannot rewind; 1.17 and later can."),
        "confirm": unless(confirmation is not None, f"{version} knows no confirmations of tool calls; 1.14 and later do."),
        "edit_errors": unless(
            hasattr(plugin, "on_tool_error_callback"), f"{version} does not let a plugin answer for a failed tool; 1.14 and later do."
        ),
        "rerun": unless(plugin is not None, f"{version} has no plugins, so a run cannot be repeated; 1.7 and later have them."),
    }
