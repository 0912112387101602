"""What grows with the work that a person has: each part at three sizes, for ``bench_growth.py``."""
