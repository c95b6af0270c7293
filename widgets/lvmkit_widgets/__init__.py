"""Dashboards for lvmkit."""
