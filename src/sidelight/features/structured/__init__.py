"""Features of variables, arcs, pairs of strings and pairs of graphs."""
