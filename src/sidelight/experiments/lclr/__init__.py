"""Learning with constrained latent representations."""
