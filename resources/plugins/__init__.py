"""Files that users copy to their apps, and that the inspector loads into the processes of agents; each works alone."""
