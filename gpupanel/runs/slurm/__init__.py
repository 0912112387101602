"""Runs whose processes are tasks of a job of Slurm."""
