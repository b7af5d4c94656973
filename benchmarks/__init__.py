"""Speed beside peers, and what makes `RESULTS.md` of it."""
