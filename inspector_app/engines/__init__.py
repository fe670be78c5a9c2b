"""What drives an agent for the window and the command line."""
