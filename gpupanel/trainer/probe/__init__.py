"""What TensorFlow is and finds here; started by name: ``python -m gpupanel.trainer.probe``."""
