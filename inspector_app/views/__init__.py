"""Widgets: they show data and say what was asked for, nothing more."""
