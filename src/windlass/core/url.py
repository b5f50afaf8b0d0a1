"""The URL of a store as it can be shown."""

from __future__ import annotations

import re


def without_secrets(url: str) -> str:
    """A URL without its passwords. Where one ends is unsure, more is hidden, not less."""
    url = re.sub(r"(://[^:@/]*):.*@", r"\1:***@", url)
    # A server's key may stand alone, where others have a user name.
    url = re.sub(r"://wl_[^@/]*@", "://***@", url)
    return re.sub(r"(?i)([?&][^=&]*(?:password|passwd|secret|token)=)[^&]*", r"\1***", url)
