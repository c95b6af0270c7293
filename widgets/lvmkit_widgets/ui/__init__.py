"""User interface shared by all dashboards: components, hosts, jobs, tabs, history, exports; it knows no model."""
