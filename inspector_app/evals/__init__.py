"""Repeated runs and evals: what an agent does several times, side by side."""
