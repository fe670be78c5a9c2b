"""The `api_server` subcommand."""

from __future__ import annotations

import secrets

from inspector_app.commands import stdout
from inspector_app.commands.options import Options
from inspector_app.commands.output import print_json, print_line
from inspector_app.engines.agent_loader import agent_folders
from inspector_app.server.adk_servers import embedded_instead
from inspector_app.server.serving import listening_socket, serve, url_of


def api_server(options: Options) -> int:
    """Serve an agent, or a folder of agents, until Ctrl+C."""
    folders = agent_folders(options.folder)
    for sentence in embedded_instead(folders):
        stdout.complain(f"agent-inspector: {sentence}\n")
    token = secrets.token_urlsafe(24)
    with stdout.kept_for_answers(), listening_socket(options.host, options.port) as listening:
        url = url_of(listening, options.host)
        if options.json:
            print_json({"server": {"url": url, "apps": sorted(folders), "token": token}})
        else:
            print_line(
                f"Serving {', '.join(sorted(folders))} at {url} (stop with Ctrl+C). Sessions are stored in .adk in each agent's folder."
            )
            print_line(f"Requests from a browser need the header Authorization: Bearer {token}")
        serve(listening, folders, token)
    return 0
