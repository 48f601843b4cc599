"""What a trial's folder goes through: leases, states, earlier attempts, the environment."""
