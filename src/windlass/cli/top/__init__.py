"""A live view of a store on a terminal.

What is shown (`look`, `rows`, `details`, `header`, `layout`) and what keys mean (`keys`, `ui`) are
pure; `looker` and `eye` ask the store, `screen` and `keyboard` are the terminal, and `session` has
them meet.
"""

from .command import top

__all__ = ["top"]
