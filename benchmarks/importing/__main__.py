"""`python -m benchmarks.importing`."""

from .run import main

if __name__ == "__main__":  # not in the processes that a run starts
    main()
