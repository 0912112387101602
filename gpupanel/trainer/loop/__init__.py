"""The one loop: epochs of steps, what interrupts them, and what is reported of them."""
