"""Widgets, one a file. They see Qt models and plain data, never a database or a runner."""
