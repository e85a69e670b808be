"""What a run has learned: rows that lie, what the metric values, objectives for other learners."""
