"""What runs: run directories, the launcher, the supervisor, the follower, requests, history."""
