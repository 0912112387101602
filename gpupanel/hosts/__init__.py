"""Another machine's devices and runs in the window here, over the person's own ``ssh``.

``here`` starts ``ssh`` and keeps copies of what a window reads; ``there`` is the process on the
host that answers it. Both import what they say to each other from this folder.
"""
