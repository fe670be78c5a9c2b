"""Hold, step and go on, round any async generator of events. Knows neither Qt nor the Runner."""
