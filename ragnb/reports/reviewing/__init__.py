"""A review of the evidence: the checks that a careful reviewer would make."""
