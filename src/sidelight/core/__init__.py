"""What every other module may use: arrays, checks, kernels, records, progress."""
