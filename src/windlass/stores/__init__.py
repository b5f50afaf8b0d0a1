"""Engines behind one contract: `contract` says what they promise, `memory` shows it plainly."""
