"""Benchmarks: the same work by this runtime and by google-adk, in one run. `make bench` prints them; RESULTS.md keeps the last figures."""
