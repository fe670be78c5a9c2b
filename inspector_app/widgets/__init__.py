"""Widgets and styles that any feature uses."""
