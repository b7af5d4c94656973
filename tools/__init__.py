"""Scripts of maintainers: they make files of the repository. docs/contributing.md lists them."""
