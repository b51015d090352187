"""Embedders: texts become vectors, behind one small protocol, chosen by name."""
