"""Helpers that are independent of agents: lazy exports, threads, merging, JSON."""
