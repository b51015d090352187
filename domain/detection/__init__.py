"""What an exchange leaves: found by rules, or by a model; both say it in the same words."""
