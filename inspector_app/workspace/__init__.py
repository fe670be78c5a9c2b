"""Window-wide state, one owner each: selection, open databases, displayed session, agent, run, breakpoints, messages."""
