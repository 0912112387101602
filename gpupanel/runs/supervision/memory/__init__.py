"""Memory of a run, on GPUs and on the host.

``reading`` reads the kernel's files and logs; ``gpu_watch`` knows what the run holds of its GPUs,
``shortage_watch`` whether a process that ended had lacked memory; ``problem`` says so in sentences,
and ``response`` explains the end of a run by it, or changes the run so that it takes less.
"""
