"""The Model Context Protocol: a store and its agents as tools and resources of any client.

Source: https://modelcontextprotocol.io/specification
"""
