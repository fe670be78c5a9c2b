"""Benchmarks: what this program does beside its peers and the limits of the machine."""
