"""The `attach` subcommand, which lists running apps and opens the window on one of them."""

from __future__ import annotations

from inspector_app.commands.options.running import Attach
from inspector_app.commands.output import complain_of_nothing, print_json, print_table
from inspector_app.commands.window import load_app
from inspector_app.engines.running_apps import HOW_TO_LIST, PLUGIN, AttachError, choose, running_apps


def attach(options: Attach) -> int:
    """List the running apps, or open the window on the named one.

    Raises:
        AttachError: there is no such app, or the window cannot attach to it.
        KnownError: Qt cannot work here.
    """
    apps = running_apps()
    if options.app is not None:
        chosen = choose(options.app, apps)
        if chosen.why_not is not None:
            raise AttachError(f"{chosen.name} ({chosen.pid}): {chosen.why_not}")
        status: int = load_app(off_screen=False).run_window([], theme=options.theme, size=options.size, attach=chosen)
        return status
    if options.json:
        names = ("pid", "name", "engine", "place", "attached_by", "answers")
        print_json([{name: getattr(app, name) for name in names} for app in apps])
        return 0
    rows = [(app.name, str(app.pid), app.engine, app.place, app.why_not or "") for app in apps]
    if not rows:
        complain_of_nothing(f"No app is running. {HOW_TO_LIST} The file is {PLUGIN}.")
        return 0
    print_table(("NAME", "PID", "ENGINE", "PLACE", ""), rows)
    return 0
