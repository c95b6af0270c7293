"""Score cards: phenotypes of integer scores, names and marks of clinicians, and patients who score high."""
