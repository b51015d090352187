"""What a mind reads and what it writes: view, render, parse, and the versioned system prompts."""
