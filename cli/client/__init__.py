"""One way to call the methods of cli/rpc, in this process or over a WebSocket."""
