"""Parts of the phenotype score cards."""
