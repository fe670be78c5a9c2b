"""Hooks around every step of a run."""
