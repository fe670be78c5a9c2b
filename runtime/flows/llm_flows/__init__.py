"""google-adk's import paths of names in its flows."""
