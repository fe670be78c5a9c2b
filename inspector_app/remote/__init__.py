"""Sessions that another program keeps behind a network protocol: a server of google-adk's, or an Agent Engine. No Qt."""
