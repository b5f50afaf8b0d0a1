"""What Django's admin lists: no table stands behind it, since jobs are in the store."""

from __future__ import annotations

from django.db import models


class Job(models.Model):
    """Gives the list of jobs its place in the admin, and its permissions: to view and to change."""

    id = models.CharField(max_length=64, primary_key=True)

    class Meta:
        """Django makes no table."""

        managed = False
        default_permissions = ("view", "change")
