"""Criticality's tools as MCP servers, one agent a server process."""
