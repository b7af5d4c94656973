"""What is asked of a model and how its reply is read: text in, records out, no network."""
