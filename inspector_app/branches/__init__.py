"""Forks, rewinds, and two sessions compared."""
