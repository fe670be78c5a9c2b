"""The main window: docks, tool and status bar, messages, palette, and the controller that connects the features."""
