"""What comes of taking a note somewhere."""


class NotDeliveredError(Exception):
    """A note has not arrived.

    Attributes:
        may_go_well: Whether it may arrive when it is sent again as it is.
    """

    def __init__(self, message: str, *, may_go_well: bool = True) -> None:
        super().__init__(message)
        self.may_go_well = may_go_well
