"""Context: what is remembered, as a part of a prompt. A head that is frozen, and a tail for each question."""
