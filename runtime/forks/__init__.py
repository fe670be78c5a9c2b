"""Forks: a session's past up to one event as a session of its own, and a run of it again with what was recorded."""
