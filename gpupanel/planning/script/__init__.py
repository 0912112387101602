"""A profile as a stand-alone TensorFlow script that needs nothing of gpupanel."""
