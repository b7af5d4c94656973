"""Formats of responses that other evaluation tools write."""
