"""Speed: seconds, slopes, memory, and the share of what the machine can do."""
