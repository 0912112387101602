"""How many steps go into one call."""

_CALL_S = 0.05
_FASTEST_RISE = 4


class Pace:
    """Adapts the steps of a call so that it lasts about 50 ms.

    Long enough that calling costs little, short enough that a request is heard at once.

    Attributes:
        steps: For the next call.
    """

    def __init__(self) -> None:
        self.steps = 1

    def took(self, steps: int, seconds: float) -> None:
        """Learn from a call: so many steps took so long."""
        fitting = int(_CALL_S * steps / max(seconds, 1e-6))
        self.steps = max(1, min(fitting, _FASTEST_RISE * steps))
