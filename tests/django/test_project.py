"""A Django project as its makers meet it: its own tests, its commands, its worker."""

import signal
import sqlite3
from pathlib import Path

import psycopg
import pytest

from tests.django.conftest import MakeShop, Shop
from windlass.stores.sql.migrations import load_migrations

ENGINES = ("sqlite", "postgres", "mariadb")


@pytest.mark.parametrize("engine", ENGINES)
def test_tests_of_a_project_see_jobs_and_the_test_database_alone(
    engine: str, make_shop: MakeShop
) -> None:
    shop = make_shop(engine)
    assert "OK" in shop.manage("test", "shop", "--noinput")
    if engine == "sqlite":
        assert not Path(str(shop.database["NAME"])).exists()


def test_tests_of_a_project_never_open_a_store_elsewhere(
    make_shop: MakeShop, tmp_path: Path
) -> None:
    store = tmp_path / "jobs.db"
    shop = make_shop("sqlite", {"URL": f"sqlite:///{store}"})
    assert "OK (skipped=1)" in shop.manage("test", "shop", "--noinput")
    assert not store.exists()


def test_jobs_run_at_once_in_tests_that_want_it(make_shop: MakeShop) -> None:
    shop = make_shop("sqlite", {"DATABASE": "default", "TESTING": "immediate"})
    said = shop.python(
        """
from django.core.management import call_command
from django.test.runner import DiscoverRunner
from django.db import transaction
from shop.models import Order
from shop.tasks import confirm
runner = DiscoverRunner(verbosity=0)
runner.setup_test_environment()
made = runner.setup_databases()
order = Order.objects.create(item="tea")
print(confirm.enqueue(order.pk).result(timeout=5), Order.objects.get().confirmed)
runner.teardown_databases(made)
"""
    )
    assert said.split() == ["tea", "True"]


@pytest.mark.parametrize("engine", ENGINES[:2])
def test_migrate_makes_the_tables_and_a_worker_runs_what_a_transaction_left(
    engine: str, make_shop: MakeShop
) -> None:
    shop = make_shop(engine)
    said = shop.manage("migrate")
    assert "Applying windlass.0001_tables... OK" in said
    if engine == "sqlite":
        assert "No changes detected" in shop.manage("makemigrations", "--check", "--dry-run")
        assert "up to date" in shop.manage("windlass", "migrate").lower()
    shop.python(
        """
import asyncio
from django.db import transaction
from shop.models import Order
from shop.tasks import aconfirm, confirm
with transaction.atomic():
    confirm.enqueue(Order.objects.create(item="kept").pk)
try:
    with transaction.atomic():
        confirm.enqueue(Order.objects.create(item="dropped").pk)
        nothing()
except NameError:
    pass
order = Order.objects.create(item="async")
forgotten = Order.objects.create(item="forgotten")
async def main():
    await aconfirm.aenqueue(order.pk)
    aconfirm.aenqueue(forgotten.pk)
asyncio.run(main())
"""
    )
    shop.manage("windlass", "worker", "--burst")
    listed = shop.python(
        """
from shop.models import Order
print([*Order.objects.order_by("pk").values_list("item", "confirmed")])
"""
    )
    assert listed.strip() == "[('kept', True), ('async', True), ('forgotten', True)]"
    jobs = shop.manage("windlass", "jobs", "--json")
    assert jobs.count('"completed"') == 3


def test_jobs_of_a_store_elsewhere_wait_for_the_commit(make_shop: MakeShop, tmp_path: Path) -> None:
    store = tmp_path / "jobs.db"
    shop = make_shop("sqlite", {"URL": f"sqlite:///{store}"})
    shop.manage("migrate")
    with sqlite3.connect(str(shop.database["NAME"])) as site:
        names = {name for (name,) in site.execute("SELECT name FROM sqlite_master")}
    assert "shop_order" in names and "windlass_jobs" not in names
    said = shop.python(
        """
from django.db import transaction
from shop.tasks import confirm
from windlass.django import app
def count():
    return sum(sum(queue.counts.values()) for queue in app.queues.list())
with transaction.atomic():
    job = confirm.enqueue(1)
    print(count())
print(count(), app.job(job.id).get().state)
try:
    with transaction.atomic():
        confirm.enqueue(2)
        raise LookupError
except LookupError:
    print(count())
"""
    )
    assert said.split() == ["0", "1", "pending", "1"]


def test_jobs_of_another_database_wait_for_the_commit_that_is_named(
    make_shop: MakeShop, tmp_path: Path
) -> None:
    shop = make_shop("sqlite", {"DATABASE": "jobs", "TRANSACTION": "default"})
    shop.environment["SHOP_JOBS"] = str(tmp_path / "jobs.sqlite3")
    shop.manage("migrate", "--database", "jobs")
    said = shop.python(
        """
from django.db import transaction
from shop.tasks import confirm
from windlass.django import app
def count():
    return sum(sum(queue.counts.values()) for queue in app.queues.list())
with transaction.atomic():
    confirm.enqueue(1)
    print(count())
print(count())
with transaction.atomic(using="jobs"):
    confirm.enqueue(2)
    transaction.set_rollback(True, using="jobs")
print(count())
"""
    )
    assert said.split() == ["0", "1", "1"]


def test_a_worker_outlives_a_restart_of_the_connections_of_handlers(make_shop: MakeShop) -> None:
    shop = make_shop("postgres")
    kept = {"CONN_MAX_AGE": 600, "CONN_HEALTH_CHECKS": True}
    shop = Shop({**shop.database, **kept}, {"DATABASE": "default"})
    shop.manage("migrate")
    worker = shop.start("windlass", "worker", "--threads", "1")
    try:
        first = _ask_for_process(shop)
        have = shop.database
        where = f"host={have['HOST']} port={have['PORT']} user={have['USER']} dbname=postgres"
        with psycopg.connect(where, autocommit=True) as admin:
            ended = admin.execute("SELECT pg_terminate_backend(%s)", [first]).fetchone()
        assert ended == (True,)
        assert _ask_for_process(shop) != first
    finally:
        worker.send_signal(signal.SIGTERM)
        said = worker.communicate(timeout=30)[1]
    assert worker.returncode == 0, said
    assert "OperationalError" not in said


def _ask_for_process(shop: Shop) -> int:
    program = "from shop.tasks import server_process; print(server_process.enqueue().result(30))"
    return int(shop.python(program))


def test_a_setting_that_is_wrong_is_told(make_shop: MakeShop) -> None:
    make_shop("sqlite").python(
        """
from django.core.exceptions import ImproperlyConfigured
from django.test import override_settings
from windlass.django.application import DjangoApp
from windlass.django.conf import conf
for given, told in (
    ({"DATABSE": "default"}, "did you mean DATABASE?"),
    ({"DATABASE": "other"}, "there is none"),
    ({"DATABASE": "default", "URL": "memory://"}, "either URL or DATABASE"),
    ({"DATABASE": "default", "TESTING": "eager"}, "'collect' or 'immediate'"),
    ({"DATABASE": "default", "OPTIONS": {"codex": 1}}, "codex"),
    ("redis://localhost", "is a dict"),
):
    with override_settings(WINDLASS=given):
        try:
            DjangoApp(conf())
        except ImproperlyConfigured as error:
            assert told in str(error), error
        else:
            raise AssertionError(given)
"""
    )


def test_each_migration_of_the_engines_is_one_that_django_knows_of() -> None:
    """One more of them needs one more file in `windlass/django/migrations`, and a number here."""
    newest = {
        engine: load_migrations(f"windlass.stores.{engine}")[-1].number
        for engine in ("sqlite", "postgres", "mysql")
    }
    assert newest == {"sqlite": 4, "postgres": 5, "mysql": 4}
