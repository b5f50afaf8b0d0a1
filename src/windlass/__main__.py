"""`python -m windlass`, which is `windlass`."""

from .cli.main import main

if __name__ == "__main__":
    main()
