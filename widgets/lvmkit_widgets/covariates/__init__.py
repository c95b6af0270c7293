"""Parts of the dashboard of a path of covariate clusterings."""
