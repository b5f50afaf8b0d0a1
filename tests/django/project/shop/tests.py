"""The shop's own tests: `manage.py test` runs them on each database, and on a store elsewhere."""

import os
from unittest import skipIf

from django.contrib.auth.models import Permission, User
from django.db import connection, transaction
from django.test import TestCase, TransactionTestCase

from shop.models import Order
from shop.tasks import aconfirm, confirm, refuse, twice
from windlass.django import app
from windlass.django.testing import EnqueueAssertions, enqueued, run_enqueued

ELSEWHERE = "URL" in os.environ.get("SHOP_WINDLASS", "")


class InTransaction(EnqueueAssertions, TestCase):
    """In a `TestCase`: a transaction that never commits."""

    def buy(self, path: str = "/buy/?item=tea") -> str:
        with self.captureOnCommitCallbacks(execute=True) as callbacks:
            response = self.client.get(path)
        assert len(callbacks) == int(ELSEWHERE and response.status_code == 200)
        return str(response.content.decode())

    def test_a_view_enqueues_and_its_job_runs(self) -> None:
        order = int(self.buy())
        self.assertEnqueued(confirm, [order], count=1)
        self.assertEnqueued("confirm", kwargs={})
        with self.assertRaisesMessage(AssertionError, f"jobs: confirm({order})"):
            self.assertEnqueued(confirm, [order + 1])
        assert not Order.objects.get().confirmed
        (job,) = run_enqueued()
        assert (job.state, job.attempt) == ("completed", 1)
        assert Order.objects.get().confirmed
        assert confirm.handle(job.id).result(timeout=5) == "tea"

    def test_a_view_that_rolls_back_enqueues_nothing(self) -> None:
        assert self.buy("/buy/?item=tea&fail=1") == "failed"
        self.assertNotEnqueued()

    def test_a_job_is_there_only_after_the_commit_if_the_store_is_elsewhere(self) -> None:
        with transaction.atomic():
            handle = confirm.enqueue(1)
        assert [job.id for job in enqueued()] == ([] if ELSEWHERE else [handle.id])

    async def test_an_async_view_enqueues_in_the_same_transaction(self) -> None:
        from asgiref.sync import sync_to_async

        response = await self.async_client.get("/abuy/?item=rice")
        assert response.status_code == 200
        if ELSEWHERE:
            return  # the callbacks of a transaction that never commits are not called
        (job,) = await sync_to_async(run_enqueued)()
        assert job.state == "completed"
        assert (await Order.objects.aget()).confirmed

    @skipIf(ELSEWHERE, "the transaction is of another database")
    def test_jobs_go_over_the_connection_of_the_test(self) -> None:
        confirm.using(connection=connection).enqueue(7)
        app.enqueue_many([confirm.call(8), confirm.call(9)])
        assert [job.id for job in enqueued(confirm)] == [job.id for job in enqueued()]
        self.assertEnqueued(confirm, count=3)


class WithCommits(EnqueueAssertions, TransactionTestCase):
    """In a `TransactionTestCase`, where transactions do commit."""

    def test_jobs_of_jobs_run_and_failures_are_told(self) -> None:
        order = Order.objects.create(item="salt")
        twice.enqueue(order.pk)
        refuse.enqueue()
        aconfirm.enqueue(order.pk)
        states = {job.task: job.state for job in run_enqueued()}
        assert states == {"twice": "completed", "refuse": "dead", "aconfirm": "completed"} | {
            "confirm": "completed"
        }
        assert Order.objects.get().confirmed
        (dead,) = enqueued(refuse)
        assert str(dead.error) == "ValueError: out of stock"

    def test_unique_keys_hold_and_are_free_again_after_the_run(self) -> None:
        order = Order.objects.create(item="oil")
        once = confirm.using(unique="one")
        first, second = once.enqueue(order.pk), once.enqueue(order.pk)
        assert (second.id, second.duplicate) == (first.id, True)
        run_enqueued()
        assert not once.enqueue(order.pk).duplicate


class Leftovers(TransactionTestCase):
    """Without the assertions: what one test leaves is gone before the next."""

    def test_one(self) -> None:
        assert len(enqueued()) == 0
        confirm.enqueue(1)
        assert len(enqueued()) == 1

    test_two = test_one


class AdminTest(EnqueueAssertions, TestCase):
    """Jobs in the admin."""

    def test_staff_see_jobs_and_those_who_may_change_them_cancel_and_replay(self) -> None:
        with self.captureOnCommitCallbacks(execute=True):
            waiting = confirm.enqueue(1)
            dead = refuse.enqueue()
        self.client.force_login(User.objects.create_superuser("ada"))
        page = self.client.get("/admin/windlass/job/?state=pending")
        assert page.status_code == 200 and waiting.id in page.content.decode()
        none = self.client.get("/admin/windlass/job/?state=dead")
        assert "There are none" in none.content.decode()
        told = self.post("cancel", waiting.id, "no such job")
        assert "1 job(s) cancelled; 1 could not be" in told
        run_enqueued()
        assert "out of stock" in self.client.get("/admin/windlass/job/").content.decode()
        assert "1 job(s) replayed." in self.post("replay", dead.id)
        states = {job.task: job.state for job in enqueued()}
        assert states == {"confirm": "cancelled", "refuse": "pending"}

    def test_staff_without_the_permission_see_and_change_nothing(self) -> None:
        kim = User.objects.create_user("kim", is_staff=True)
        self.client.force_login(kim)
        assert self.client.get("/admin/windlass/job/").status_code == 403
        kim.user_permissions.add(Permission.objects.get(codename="view_job"))
        page = self.client.get("/admin/windlass/job/")
        assert page.status_code == 200 and "Replay" not in page.content.decode()
        refused = self.client.post("/admin/windlass/job/", {"action": "cancel", "job": ["x"]})
        assert refused.status_code == 403
        for wrong in ("?state=lost", "?cursor=nonsense"):
            assert self.client.get(f"/admin/windlass/job/{wrong}").status_code == 404

    def post(self, action: str, *ids: str) -> str:
        asked = {"action": action, "job": [*ids]}
        response = self.client.post("/admin/windlass/job/", asked, follow=True)
        return str(response.content.decode())
