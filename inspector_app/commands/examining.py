"""The `doctor` subcommand: what is wrong with a database, or how an agent would run."""

from __future__ import annotations

import asyncio
import importlib
import shlex
import sys
from collections import Counter
from typing import TYPE_CHECKING

from inspector_app.analysis.doctor import by_severity, examine
from inspector_app.analysis.finding import LEVELS, Finding
from inspector_app.commands.options.reading import Doctor
from inspector_app.commands.output import coloured, counted, print_json, print_line
from inspector_app.commands.pricing import known_prices
from inspector_app.commands.problems import UsageError
from inspector_app.commands.progress import Progress
from inspector_app.commands.reading import count_events, opened
from inspector_app.commands.selection import session_key
from inspector_app.engines.agent_loader import check_agent_path
from inspector_app.engines.engine_choice import EngineChoice, plan_engine
from inspector_app.engines.installation import InstallError, plan_installation
from inspector_app.presentation.values import visible
from runtime.storage.connections.database_url import named_file, without_password
from runtime.support.file_names import unusable_name

if TYPE_CHECKING:
    from runtime.agents.base_agent import BaseAgent

_AGENT_FILES = {".py", ".yaml", ".yml"}
_DATABASE_FILES = {".db", ".sqlite", ".sqlite3", ".db3"}
_COLOURS = {"error": "\x1b[31m", "warning": "\x1b[33m", "note": "\x1b[2m"}
FOUND_ERRORS = 1


def doctor(options: Doctor) -> int:
    """Examine a database, or explain how an agent would run; the path decides which."""
    if not is_database(options.path):
        if options.agent or options.app or options.user or options.session:
            raise UsageError(f"{options.path} is an agent: --agent, --app, --user and --session are for a database.")
        return _explain(options)
    if (options.engine or options.python) and not options.agent:
        raise UsageError("--engine and --python choose what loads the agent: give --agent, too.")
    root = _root(options) if options.agent else None
    with opened(options.path) as database:
        known = [summary.key for summary in database.listing()]
        named = options.app or options.user or options.session
        only = session_key(known, options.app, options.user, options.session, options.path) if named else None
        sessions = 1 if only else len(known)
        with Progress("Examining events", lambda: count_events(options.path)) as progress:
            found = examine(database, without_password(options.path), root=root, only=only, seen=progress.show, prices=known_prices())
            findings = by_severity(list(found))
    levels = Counter(finding.level for finding in findings)
    if options.json:
        counts = {f"{level}s": levels[level] for level in LEVELS}
        print_json({"sessions": sessions, **counts, "findings": [finding.as_json() for finding in findings]})
    else:
        for finding in findings:
            _print(finding)
        summary = ", ".join(counted(levels[level], level) for level in LEVELS if levels[level]) or "No findings"
        print_line(f"{summary} in {counted(sessions, 'session')} of {without_password(options.path)}.")
    return FOUND_ERRORS if levels["error"] else 0


def _explain(options: Doctor) -> int:
    """Print which environment and which engine an agent runs on."""
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


def is_database(path: str) -> bool:
    """Return whether a path means a database: a URL, or a file that is not an agent's code."""
    if "://" in path:
        return True
    file = named_file(path)
    if file is None or unusable_name(file) or file.is_dir() or file.suffix in _AGENT_FILES:
        return False
    return file.exists() or file.suffix in _DATABASE_FILES


def _root(options: Doctor) -> BaseAgent:
    """Return the agent tree as it is now. It runs the code that defines it."""
    opening = importlib.import_module("inspector_app.commands.opening")
    plan = opening.planned_engine(options.agent, options.engine, options.python)
    if plan.kind == "embedded":
        loaded = importlib.import_module("inspector_app.engines.agent_loader").load_agent(options.agent)
        root: BaseAgent = loaded.app.root_agent
        return root
    return asyncio.run(_outline(plan))


async def _outline(plan: object) -> BaseAgent:
    outline = importlib.import_module("inspector_app.engines.agent_outline")
    async with importlib.import_module("inspector_app.commands.child_runs").open_child(plan, None) as engine:
        root: BaseAgent = outline.agent_outline(engine.agent.root)
        return root


def _print(finding: Finding) -> None:
    place = ""
    if finding.key is not None:
        place = f"  {visible(finding.key.session_id)}" + (f"  event {visible(finding.event_id)}" if finding.event_id else "")
    print_line(f"{coloured(finding.level, _COLOURS[finding.level])}  {finding.kind}{place}", flush=False)
    print_line(f"    {visible(finding.what)} {finding.why}", flush=False)
    print_line(f"    {finding.advice}", flush=False)
    if finding.fix:
        print_line(f"    $ {visible(shlex.join(finding.fix))}", flush=False)
