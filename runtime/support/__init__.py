"""Helpers that know nothing of agents: lazy exports, threads, merging, JSON."""
