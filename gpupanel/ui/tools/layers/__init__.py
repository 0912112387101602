"""The layers of the model, and the memory it takes."""
