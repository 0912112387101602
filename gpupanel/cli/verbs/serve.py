"""The process on a host that answers a window elsewhere; ``gpupanel --host`` starts it by ssh."""


def serve() -> None:
    """Answer a window on another machine; `gpupanel --host` starts this by ssh."""
    from gpupanel.hosts.there.process import serve as answer

    answer()
