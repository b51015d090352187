"""Thoughts gathered by likeness: vectors, a calibrated online clustering, measures of diversity.

The only part of the domain that knows numpy and scipy. Folding what was decided takes neither: the
clusters that a mind is shown are in the state of the session (``domain/pool.py``).
"""
