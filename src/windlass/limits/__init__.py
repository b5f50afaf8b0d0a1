"""What limits allow, decided without I/O: every store applies it inside its atomic steps.

**Lanes.** A job with a lane, which is of its queue, does not become pending but *enters* it: it is
blocked, at the place that it would have had, until it gets a slot, which makes it pending at
that place. After each step that changes a lane, and as part of that step, it is settled: by
`admission.settle` some of the first waiting jobs get slots, or one of them, the ticket, is
scheduled for the moment at which the next may go. The first are those of the highest priority and
the lowest place; if the lane is `in_order`, of the lowest place. The ticket counts as waiting; it
stays the same job while there is one, and is blocked again, where it stands, when its moment has
come or none is asked for. A job keeps its slot while it is pending or active, in a strict lane
until it is finished or deleted. Released, it enters again, at the front; in a strict lane it is
pending again, there.

**Groups.** Where a job with a group would get the next place at the end of the line, to be pending
or to enter a lane, it gets the one that `fairness.search` finds. The last place of a group is that
of its jobs that are pending or wait in their lane; the clock of a queue goes up to the greatest
place of the grouped jobs that a claim hands out.
"""
