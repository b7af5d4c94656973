"""Scripts that write the data that the package contains."""
