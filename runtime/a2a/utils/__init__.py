"""Serving an agent over A2A."""
