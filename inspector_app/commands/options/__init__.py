"""What each command accepts: one class of options for each command, in the order of the help."""
