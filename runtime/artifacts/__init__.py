"""Files that agents save, in versions."""
