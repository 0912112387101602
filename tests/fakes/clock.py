"""A clock for tests of what lasts."""


class Clock:
    """A clock that a test winds."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s
