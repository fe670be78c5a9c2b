"""Attaching to running apps: real processes, each with a google-adk of its own or with the embedded runtime."""
