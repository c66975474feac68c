"""Text: pure functions on words that several rooms and the model-free analyst share. They know nothing of storage."""
