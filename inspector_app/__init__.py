"""Agent Inspector: the desktop debugger that embeds `runtime` through qasync."""
