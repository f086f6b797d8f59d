"""What all code stands on: memory, threads, compiled loops, progress, checks of arguments."""
