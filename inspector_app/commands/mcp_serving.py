"""The `mcp` subcommand."""

from __future__ import annotations

import importlib
from contextlib import suppress

from inspector_app.commands import stdout
from inspector_app.commands.options.serving import Mcp
from runtime.errors import EmptyDatabaseError, StorageError
from runtime.errors.missing_package_error import require
from runtime.storage.reading.reader import StoredDatabase


def mcp(options: Mcp) -> int:
    """Serve coding agents over stdin and stdout until they close it."""
    require("mcp", "mcp", "Answers to a coding agent", oldest="2.3")
    module = importlib.import_module("inspector_app.mcp_server.places")
    places = module.Places(options.paths)
    for database in places.databases:
        with suppress(EmptyDatabaseError):
            StoredDatabase.open(module.readable(database)).close()  # a wrong name is reported now, not at the first question
    if not options.allow_runs and places.agents and not places.databases:
        raise StorageError(f"{places.agents[0]} has no sessions in .adk. Name a database, or allow runs with --allow-runs.")
    stdout.complain(f"agent-inspector: serving over stdio{', with runs' if options.allow_runs else ', read only'} (stop with Ctrl+C)\n")
    importlib.import_module("inspector_app.mcp_server.serving").serve(options.paths, allow_runs=options.allow_runs)
    return 0
