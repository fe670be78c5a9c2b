"""Agent Inspector: the desktop debugger and the command line round the runtime."""
