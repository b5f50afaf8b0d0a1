"""Workers, schedulers and rescuers on a clock that jumps, killed and cut off by a seeded chance.

Real worker code runs on the memory store in one process and one thread; only time, the way to the
store and death are made up. So an hour with a hundred kills takes milliseconds, and a seed that
shows a fault shows it again. What happened is judged by `chaos.rules`.
"""
