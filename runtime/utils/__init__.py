"""Helpers for agents, at google-adk's import path."""
