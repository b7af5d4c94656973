"""Speed of ragnb next to other packages: ``make bench`` writes RESULTS.md."""
