"""Forks: a session's past up to one event as a new session, and re-runs of a recorded invocation in a fork."""
