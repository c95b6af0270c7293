"""Parts of the dashboard of a tensor normal mixture."""
