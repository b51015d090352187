"""Artifacts: what people wish about them, and what is found, kept and let go on its own."""
