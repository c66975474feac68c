"""Work: jobs, the worker that runs them, and the sweep that finds what was left behind."""
