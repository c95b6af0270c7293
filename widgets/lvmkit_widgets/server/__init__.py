"""Serving dashboards: the command line, the server, who may look, and how many at once."""
