"""How many phenotypes to ask for: runs over numbers of components, and how unlike their answers are."""
