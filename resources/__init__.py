"""Style sheet, icons and samples. Read through `importlib.resources`."""
