"""Calls to a model: the only place in ragnb with a network."""
