"""What every dashboard is made of: components, widgets, hosts, jobs, tabs, history, exports; it knows no model."""
