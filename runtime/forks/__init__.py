"""Forks, which copy a session up to one event into a new session, and re-runs of a recorded invocation in a fork."""
