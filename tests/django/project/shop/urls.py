"""The addresses of the shop."""

from django.contrib import admin
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.urls import path

from shop.models import Order
from shop.tasks import aconfirm, confirm


def buy(request: HttpRequest) -> HttpResponse:
    """An order and its job, both or none."""
    try:
        with transaction.atomic():
            order = Order.objects.create(item=request.GET["item"])
            confirm.enqueue(order.pk)
            if "fail" in request.GET:
                raise LookupError
    except LookupError:
        return HttpResponse("failed", status=409)
    return HttpResponse(str(order.pk))


async def abuy(request: HttpRequest) -> HttpResponse:
    order = await Order.objects.acreate(item=request.GET["item"])
    await aconfirm.aenqueue(order.pk)
    return HttpResponse(str(order.pk))


urlpatterns = [
    path("admin/", admin.site.urls),
    path("buy/", buy),
    path("abuy/", abuy),
]
