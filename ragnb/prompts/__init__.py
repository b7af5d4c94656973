"""Prompts for models, and parsing of their replies into records. Nothing here uses a network."""
