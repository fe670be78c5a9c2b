"""The `api_server` subcommand."""

from __future__ import annotations

import secrets

from inspector_app.commands import stdout
from inspector_app.commands.options.serving import ApiServer
from inspector_app.commands.output import print_json, print_line
from inspector_app.engines.agent_loader import agent_folders
from inspector_app.server.adk_servers import embedded_instead, page_in, page_of
from inspector_app.server.agents import ServedAgents, Stores
from inspector_app.server.guard import Access
from inspector_app.server.origins import AllowedOrigins
from inspector_app.server.services import artifact_service, session_service
from inspector_app.server.serving import listening_socket, serve, url_of


def api_server(options: ApiServer) -> int:
    """Serve an agent, or a folder of agents, until Ctrl+C."""
    folders = agent_folders(options.folder)
    origins = AllowedOrigins.named(options.allow_origins or ())
    page = page_in(options.web) if options.web else page_of(folders.values())
    stores = Stores(
        session_service(options.session_service_uri) if options.session_service_uri else None,
        artifact_service(options.artifact_service_uri) if options.artifact_service_uri else None,
    )
    for sentence in embedded_instead(folders):
        stdout.complain(f"agent-inspector: {sentence}\n")
    token = secrets.token_urlsafe(24)
    with stdout.kept_for_answers(), listening_socket(options.host, options.port) as listening:
        url = url_of(listening, options.host)
        if options.json:
            print_json({"server": {"url": url, "apps": sorted(folders), "token": token}})
        else:
            stored = f"in {options.session_service_uri}" if options.session_service_uri else "in .adk in each agent's folder"
            print_line(f"Serving {', '.join(sorted(folders))} at {url} (stop with Ctrl+C). Sessions are stored {stored}.")
            if page is not None:
                print_line(f"The page of the installed google-adk is at {url}/dev-ui/.")
            print_line(f"Other requests from a browser need the header Authorization: Bearer {token}")
        agents = ServedAgents(folders, stores, reloads=options.reload_agents)
        serve(listening, agents, Access(listening.getsockname()[1], token, origins), page)
    return 0
