"""The commands of the command line, one a file; `sidelight.cli` puts them together."""
