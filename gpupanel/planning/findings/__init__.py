"""Why a training is slower than it could be: a file a theme, every rule in ``registry``."""
