"""Django's own tasks on the backend of Windlass, from the request to the worker."""

import json

from tests.django.conftest import MakeShop

ENQUEUE = """
import json
from datetime import timedelta
from django.db import transaction
from django.utils import timezone
from shop.models import Order
from shop.tasks import aweigh, break_it, weigh
ids = {}
with transaction.atomic():
    order = Order.objects.create(item="tea").pk
    result = weigh.using(priority=-33, queue_name="scales").enqueue(order, unit="g")
    seen = weigh.get_result(result.id)
    assert seen == result and seen.task.priority == -33, seen
    ids["weigh"] = result.id
try:
    with transaction.atomic():
        lost = weigh.enqueue(order, unit="kg")
        raise LookupError
except LookupError:
    ids["lost"] = lost.id
ids["aweigh"] = aweigh.enqueue(order).id
ids["break_it"] = break_it.enqueue().id
later = timezone.now() + timedelta(hours=1)
ids["later"] = aweigh.using(run_after=later).enqueue(order).id
assert aweigh.get_result(ids["later"]).task.run_after == later
print(json.dumps(ids))
"""

LOOK = """
import json
from shop.tasks import aweigh, break_it, weigh
from windlass.django.backports import TaskResultDoesNotExist
ids = json.loads(%r)
found = weigh.get_result(ids["weigh"])
assert found.return_value == ["tea", "g", "1"] and found.attempts == 1, found
assert found.enqueued_at <= found.started_at <= found.finished_at, found
assert aweigh.get_result(ids["aweigh"]).return_value == "tea"
broken = break_it.get_result(ids["break_it"])
assert broken.status == "FAILED" and broken.is_finished, broken
(error,) = broken.errors
assert error.exception_class_path == "shop.tasks.Broken", error
assert "lines: of it" in error.traceback and error.exception_class.__name__ == "Broken"
assert aweigh.get_result(ids["later"]).status == "READY"
for id in (ids["lost"], "no id at all"):
    try:
        weigh.get_result(id)
    except TaskResultDoesNotExist:
        continue
    raise AssertionError(id)
"""


def test_tasks_of_django_are_run_and_their_results_found(make_shop: MakeShop) -> None:
    shop = make_shop("postgres")
    shop.manage("migrate")
    said = shop.python(ENQUEUE)
    assert set(json.loads(said)) == {"weigh", "lost", "aweigh", "break_it", "later"}
    shop.manage("windlass", "worker", "--burst", "--queues", "scales,default")
    shop.python(LOOK % said.strip())
