"""google-adk's import path of helpers for scripts."""
