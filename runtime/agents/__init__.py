"""Agents and the contexts they run in."""
