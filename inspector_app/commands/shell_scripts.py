"""The `completion` command: scripts for shells."""

from __future__ import annotations

from typer._completion_shared import get_completion_script

from inspector_app.commands import stdout
from inspector_app.commands.options import Options
from inspector_app.commands.problems import UsageError

SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")


def completion(options: Options) -> int:
    """Print a shell's completion script."""
    if options.shell not in SHELLS:
        raise UsageError(f"There is no completion for {options.shell}. Shells: {', '.join(SHELLS)}.")
    script = get_completion_script(prog_name="agent-inspector", complete_var="_AGENT_INSPECTOR_COMPLETE", shell=options.shell)
    stdout.write(f"{script}\n")
    return 0
