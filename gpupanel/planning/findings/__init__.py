"""Why a training is slow, or learns badly: a file a theme, every rule in ``registry``."""
