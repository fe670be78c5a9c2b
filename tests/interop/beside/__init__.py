"""Programs written for google-adk's public names, which run on google-adk and on the embedded runtime."""
