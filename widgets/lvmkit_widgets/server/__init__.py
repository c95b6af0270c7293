"""Server: the command line, serving, access rules, and the limit of visits."""
