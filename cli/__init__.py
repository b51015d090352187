"""Every surface that a person or a program touches."""
