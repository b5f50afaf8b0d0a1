"""The jobs of the shop."""

from django.db import connection

try:
    from django.tasks import TaskContext, task
except ImportError:
    from django_tasks import TaskContext, task

from shop.models import Order
from windlass.django import app


@app.task
def confirm(order_id: int) -> str:
    order = Order.objects.get(pk=order_id)
    order.confirmed = True
    order.save()
    return str(order.item)


@app.task
async def aconfirm(order_id: int) -> str:
    order = await Order.objects.aget(pk=order_id)
    order.confirmed = True
    await order.asave()
    return str(order.item)


@app.task(max_retries=0)
def refuse() -> None:
    raise ValueError("out of stock")


@app.task
def twice(order_id: int) -> None:
    confirm.enqueue(order_id)


@app.task
def server_process() -> int:
    """Which process of PostgreSQL serves this thread: for a test that ends it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


@task(takes_context=True)
def weigh(context: TaskContext, order_id: int, *, unit: str) -> list[str]:
    return [Order.objects.get(pk=order_id).item, unit, str(context.attempt)]


@task
async def aweigh(order_id: int) -> str:
    return str((await Order.objects.aget(pk=order_id)).item)


@task
def break_it() -> None:
    raise Broken("two\nlines: of it")


class Broken(Exception):
    """An error of the project's own."""
