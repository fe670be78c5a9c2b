"""The options of commands that serve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from inspector_app.commands import parameters as given
from inspector_app.commands.options.base import SERVE, Options, command


@command("api_server", SERVE, "serving:api_server", "agent-inspector api_server agents --port 8000")
class ApiServer(Options):
    """Serve agents to programs on this machine, with the endpoints of google-adk's api_server and web."""

    folder: Annotated[str, given.argument("FOLDER", "An agent's folder, or a folder of such folders.")]
    port: Annotated[int, given.option("--port", "N", "0 takes any free port.", given.port)] = 8000
    host: Annotated[str, given.option("--host", "H", "localhost, 127.0.0.1 or ::1.")] = "127.0.0.1"
    allow_origins: Annotated[
        Sequence[str],
        given.option("--allow_origins", "ORIGIN", "A page's origin that needs no token, or regex:PATTERN. Can be repeated.", given.texts),
    ] = ()
    session_service_uri: Annotated[
        str | None, given.option("--session_service_uri", "URI", "A database for all agents' sessions, or memory://.", given.text)
    ] = None
    artifact_service_uri: Annotated[
        str | None, given.option("--artifact_service_uri", "URI", "file:///FOLDER for all agents' files, or memory://.", given.text)
    ] = None
    reload_agents: Annotated[bool, typer.Option("--reload_agents", help="Load an agent again when its code has changed.")] = False
    web: Annotated[
        str | None,
        given.option("--web", "DIR", "An environment with google-adk, whose page to serve. Default: the agents' own.", given.text),
    ] = None
    json: given.AsJson = False


@command(
    "mcp",
    SERVE,
    "mcp_serving:mcp",
    "agent-inspector mcp sessions.db",
    "agent-inspector mcp my_agent sessions.db --allow-runs",
    "claude mcp add inspector -- agent-inspector mcp sessions.db",
    more=(
        "Agents run only if their folder is trusted: open it once in the window. Nothing is trusted through the server.",
        "Runs are stored in a database of the server's own; the databases that it was started on are only read.",
    ),
)
class Mcp(Options):
    """Serve a coding agent over stdio (MCP): sessions, events, state, who wrote a key, requests, costs, comparisons, findings."""

    paths: Annotated[
        Sequence[str],
        given.argument("PATH", "Session databases, and agents' folders. Default: any database that a question names.", given.texts),
    ] = ()
    allow_runs: Annotated[bool, typer.Option("--allow-runs", help="Let the coding agent run trusted agents. Default: read only.")] = False
