"""Memory of a run: what its processes hold and lack, on GPUs and on the host."""
