"""What is there: the one NVML door, the host, the sampler, the doctor."""
