"""Operations of a store on a connection that is the user's own, in the user's transaction.

We are a guest there: nothing is begun, committed, rolled back or closed. What the driver raises
goes to the caller as it is, since it is the caller's transaction that failed.
"""
