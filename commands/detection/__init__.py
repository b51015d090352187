"""Finding artifacts: who looks at what was said, and what comes of it."""
