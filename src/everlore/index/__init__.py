"""Index: the step that makes postings and vectors of passages."""
