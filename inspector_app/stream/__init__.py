"""The event stream: model, painter, filter, scroll-bar marks, events of agents that run as tools."""
