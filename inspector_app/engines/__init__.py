"""Engines that run agents for the window, the commands and the server."""
