"""Capsules and replays: a recorded session leaves for another machine, or runs again without its models."""
