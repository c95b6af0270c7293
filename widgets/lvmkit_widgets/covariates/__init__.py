"""Covariate path: clusters of covariates along ν, what they speak for, and how they merge."""
