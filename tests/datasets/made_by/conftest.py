"""The scripts that made these files need the tools themselves, and are no tests."""

collect_ignore_glob = ["*.py"]
