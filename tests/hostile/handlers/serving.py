"""The app that a worker of these tests runs; HOSTILE has what it is made of."""

import faulthandler
import os
import signal

from tests.hostile.handlers.apps import make

app = make(*os.environ["HOSTILE"].split())

# Should a worker hang, its test has it tell where.
faulthandler.register(signal.SIGUSR1)
