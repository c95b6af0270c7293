"""Tree navigator: nested clusters, what splits them, where to cut the tree, and the rows of a branch."""
