"""`python -m benchmarks.egress`."""

from .run import main

if __name__ == "__main__":
    main()
