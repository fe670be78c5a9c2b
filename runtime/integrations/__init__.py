"""google-adk 2's import paths of adapters to other packages."""
