"""Labels by people: tasks, an append-only log, agreement, adjudication, queues, and their way into frames."""
