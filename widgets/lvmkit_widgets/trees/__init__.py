"""The tree navigator: its state, the numbers it shows, and its parts."""
