"""What is not code: style sheet, samples. Read through `importlib.resources`."""
