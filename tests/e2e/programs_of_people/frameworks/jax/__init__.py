"""As little of JAX as a script of a test needs."""
import os
def devices():
    return [f"gpu{index}" for index, each in enumerate(os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")) if each != "-1"] or ["cpu"]
