"""Notes that reach a person who is elsewhere, with or without a window.

What happens is put into an outbox once (:mod:`outbox`), whoever notices it: the supervisor, the
scheduler, or the process that outlives a supervisor (:mod:`run_notes`). A courier, one a user,
takes it from there by every way that is set (:mod:`ways`) and tries again until it has arrived.
"""
