"""Knowledge: deduplication, entity linking, supersession, timelines; a person's word over all of it; erasure."""
