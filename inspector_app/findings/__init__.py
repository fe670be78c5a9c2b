"""What is wrong with the open database, in a pane."""
