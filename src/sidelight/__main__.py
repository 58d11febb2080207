"""`python -m sidelight` is the command line."""

from sidelight.cli import main

if __name__ == "__main__":
    main()
