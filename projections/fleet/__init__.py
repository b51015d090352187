"""Jobs over all sessions of a store, in many processes or on many machines at once."""
