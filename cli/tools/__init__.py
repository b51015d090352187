"""Tools that read a store: for agents and, over MCP, for any program that speaks to models."""
