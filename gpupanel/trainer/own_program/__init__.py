"""A program of the person's own as a run: started, listened to, asked to end, and accounted for.

The process of the run is its parent, and imports no TensorFlow. What the program reports comes
through a file in the run's folder (:mod:`gpupanel.script_process`), and becomes events here.
"""
