import functools, jax, math
print("RESULT", jax.devices(), functools.reduce(lambda value, step: value - 0.1 * math.cos(value), range(50), 1.0))
