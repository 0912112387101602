"""The training process: the only importer of tensorflow and keras.

Started by name, ``python -m gpupanel.trainer RUN_DIR``, never imported by the rest. Modules that
can do without TensorFlow do, so that data is read and checked, and problems are reported, before
the seconds that its import takes.
"""
