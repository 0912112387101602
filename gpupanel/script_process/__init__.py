"""What runs inside of a program of the person's own, in its Python, before its first line.

It needs the standard library alone, of any Python that TensorFlow runs on, and is loaded under a
name that no program has (:mod:`start`): nothing of gpupanel need be installed there.
"""
