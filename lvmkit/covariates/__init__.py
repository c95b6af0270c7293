"""Convex covariate clustering: a logistic regression whose weights are drawn together along a graph of covariates."""
