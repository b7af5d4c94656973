"""The version, alone in its file so that every floor can read it."""

__version__ = "0.2.0"
