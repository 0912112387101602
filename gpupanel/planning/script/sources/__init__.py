"""How a script reads each source: the counterparts of the files of ``trainer/datasets``."""
