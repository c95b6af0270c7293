"""Stability panel: which clusters reappear on other rows, and which number of them to take."""
