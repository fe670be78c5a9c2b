"""Style sheet, icons and samples: `inspector_app.resources`, read through `importlib.resources`."""
