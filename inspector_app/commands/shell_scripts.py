"""The `completion` command: scripts for shells."""

from __future__ import annotations

from typer._completion_shared import get_completion_script

from inspector_app.commands import stdout
from inspector_app.commands.options.helping import Completion
from inspector_app.commands.parameters import SHELLS
from inspector_app.commands.problems import UsageError

# Typer's script for bash takes the words that bash splits at @ and :, so it completes no mail address. As fish's, it gets the line.
BASH = r"""
_agent_inspector_completion() {
    local IFS=$'\n' line="${COMP_LINE:0:COMP_POINT}"
    local word="${line##*[[:space:]]}"
    COMPREPLY=( $(env _AGENT_INSPECTOR_COMPLETE=complete_fish _TYPER_COMPLETE_FISH_ACTION=get-args \
                      _TYPER_COMPLETE_ARGS="$line" "$1" 2>/dev/null | cut -f 1) )
    COMPREPLY=( "${COMPREPLY[@]#"${word%"$2"}"}" )
}
complete -o default -F _agent_inspector_completion agent-inspector
""".strip()


def completion(options: Completion) -> int:
    """Print a shell's completion script."""
    if options.shell not in SHELLS:
        raise UsageError(f"There is no completion for {options.shell}. Shells: {', '.join(SHELLS)}.")
    script = BASH
    if options.shell != "bash":
        script = get_completion_script(prog_name="agent-inspector", complete_var="_AGENT_INSPECTOR_COMPLETE", shell=options.shell)
    stdout.write(f"{script}\n")
    return 0
