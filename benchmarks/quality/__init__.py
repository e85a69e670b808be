"""Quality: what each method reaches on each task, and at what price."""
