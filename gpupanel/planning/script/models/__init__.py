"""How a script builds each kind of model: the counterparts of files of ``trainer/models``."""
