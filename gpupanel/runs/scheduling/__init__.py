"""The scheduler: takes runs of the queue and of sweeps in their order, and starts them."""
