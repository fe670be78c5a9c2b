"""The `doctor` subcommand, which explains how an agent would run."""

from __future__ import annotations

import sys

from inspector_app.commands.options.reading import Doctor
from inspector_app.commands.output import print_json, print_line
from inspector_app.engines.agent_loader import check_agent_path
from inspector_app.engines.engine_choice import EngineChoice, plan_engine
from inspector_app.engines.installation import InstallError, plan_installation
from inspector_app.presentation.values import visible


def doctor(options: Doctor) -> int:
    """Print which environment and which engine an agent runs on.

    Raises:
        AgentLoadError: there is no agent at the path.
    """
    check_agent_path(options.path)
    plan = plan_engine(options.path, EngineChoice(options.engine, options.python))
    decision = plan.decision
    install: tuple[str, ...] = ()
    command = None
    if plan.lacks_adk or sys.platform == "win32":
        try:
            planned = plan_installation(decision)
            command = " && ".join(planned.lines())
            install = (f"{planned.sentence} Installers run code of the packages.", f"    $ {command}")
        except InstallError as error:
            install = (str(error),)
    if not options.json:
        for line in plan.lines():
            print_line(visible(line))
        for line in install:
            print_line(visible(line))
        return 0
    print_json(
        {
            "agent": str(decision.agent),
            "engine": plan.kind,
            "python": str(decision.environment.python),
            "python_version": decision.environment.python_version,
            "adk_version": decision.environment.adk_version,
            "source": decision.source,
            "searched": [{"source": step.source, "found": step.found} for step in decision.steps],
            "env_file": str(decision.env_file) if decision.env_file is not None else None,
            "env_names": list(decision.env_names),
            "install": command,
        }
    )
    return 0
