"""As little of PyTorch as a script of a test needs."""
import os
__version__ = "0.0"
class cuda:
    @staticmethod
    def device_count():
        visible = os.environ.get("CUDA_VISIBLE_DEVICES", "")
        return len([each for each in visible.split(",") if each and each != "-1"])
