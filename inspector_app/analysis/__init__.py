"""What is wrong with stored sessions, and why. No Qt."""
