"""What a run leaves behind: checkpoints, the model, TensorBoard files."""
