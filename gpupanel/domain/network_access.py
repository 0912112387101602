"""Who on this machine could reach the ports of a run."""

from gpupanel.domain.value import Value


class NetworkAccess(Value):
    """What keeps other users of this machine away from the ports of a run, and who they are.

    Attributes:
        other_users: Who can log in besides root and the user who asks, by name.
        refusal: Why a run gets no network of its own, in a few words; empty: it gets one.
        allowing_command: What an administrator permits it with; empty where that is not known.
    """

    other_users: tuple[str, ...] = ()
    refusal: str = ""
    allowing_command: str = ""

    @property
    def is_open_to_others(self) -> bool:
        """Whether somebody else can connect to the ports of a run."""
        return bool(self.other_users and self.refusal)
