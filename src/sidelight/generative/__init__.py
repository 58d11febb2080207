"""Models of inputs and outputs together: parameters, counts, smoothing, and the completions of the EM family."""
