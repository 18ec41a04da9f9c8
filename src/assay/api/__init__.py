"""The doors for programs: an OpenAI endpoint for chat clients, and MCP for agents."""
