"""What the shop sells."""

from django.db import models


class Order(models.Model):
    """An order; a job confirms it."""

    item = models.CharField(max_length=50)
    confirmed = models.BooleanField(default=False)
