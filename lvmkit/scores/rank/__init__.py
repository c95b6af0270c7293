"""Selection of the number of components of a factorization."""
