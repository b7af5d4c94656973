"""The commands of a terminal: what they are called with, read, do and print."""
