"""JSON-RPC 2.0: every method that a client can call, and the server that answers."""
