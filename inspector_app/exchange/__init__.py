"""Sessions as files for other people and programs, and sessions from such files. No Qt."""
