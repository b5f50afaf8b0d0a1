"""A module of somebody who sets up logging where it is imported: here, in child processes."""

import logging
import sys

logging.basicConfig(level="DEBUG", stream=sys.stderr, format="own: %(message)s")


def speak(text: str) -> None:
    logging.getLogger("own").info(text)
