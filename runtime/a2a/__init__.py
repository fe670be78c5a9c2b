"""Agents that are served over the protocol A2A: import paths of google-adk."""
