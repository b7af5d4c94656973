"""The version. It has its own file so that every layer can import it."""

__version__ = "0.2.0"
