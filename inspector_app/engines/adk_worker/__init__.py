"""The child's side of the google-adk engine: loads one agent and runs it on the google-adk of its own environment.

The inspector starts `__main__.py` of this folder with the agent's Python (3.10 or newer) and passes three descriptors: commands, messages,
lifeline. Nothing else of the inspector is installed or imported there, so these modules use the standard library, each other and the
plugin's file only. docs/engine-protocol.md describes the messages.

Two processes run it. The first one, the guard, waits for the second one, the worker, and for the end of the lifeline, which the inspector
holds open. When either ends, the guard kills all processes that the agent has left behind.

Where to look:
    worker        reads the commands, loads the agent and opens its services
    driving       starts a run, pulls its events, reports what the session service commits
    plugin_file   the inspector's plugin, which reports and holds a run: agents, model calls, tool calls, commits
    current_run   the run, as the plugin sees it
    sessions      commands about stored sessions
    channel       the two descriptors
    guard         the two processes
    the others    functions: finding and loading an agent, describing it, its services, its requests, its errors
"""
