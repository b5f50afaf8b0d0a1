"""The parts of a worker, one file each; `worker.py` wires them and has their order."""
