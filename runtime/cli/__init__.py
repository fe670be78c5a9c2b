"""google-adk's import path of helpers for scripts. The command line itself is `agent-inspector`."""
