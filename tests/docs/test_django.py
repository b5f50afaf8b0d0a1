"""The page on Django, followed in a new project."""

import os
import subprocess
import sys
from pathlib import Path

from tests.docs.pages import ROOT, blocks

PAGE = ROOT / "docs" / "howto" / "django.md"
URLS = """
from django.urls import path
from shop.views import buy
urlpatterns = [path("buy/", buy)]
"""
MODELS = """
from django.db import models

class Order(models.Model):
    item = models.CharField(max_length=50)
    confirmed = models.BooleanField(default=False)
"""


def test_its_project_works(tmp_path: Path) -> None:
    files = {block.title: block.text for block in blocks(PAGE) if block.title}
    make = "from django.core.management import call_command as call\n"
    _run(
        tmp_path, "-c", f"{make}call('startproject', 'site_of_shop', '.'); call('startapp', 'shop')"
    )
    site, shop = tmp_path / "site_of_shop", tmp_path / "shop"
    with (site / "settings.py").open("a") as settings:
        settings.write(files["settings.py"] + files["tasks_settings.py"])
    (site / "urls.py").write_text(URLS)
    (shop / "models.py").write_text(MODELS)
    for name in ("tasks.py", "views.py", "tests.py"):
        (shop / name).write_text(files[name])
    prepare = f"""
import os, django
os.environ["DJANGO_SETTINGS_MODULE"] = "site_of_shop.settings"
django.setup()
{make}
call("makemigrations", "shop")
call("migrate")
from shop.tasks import confirm
from shop.models import Order
confirm.enqueue(Order.objects.create(item="tea").pk)
"""
    _run(tmp_path, "-c", prepare)
    assert "Ran 2 tests" in _run(tmp_path, "manage.py", "test")
    _run(tmp_path, "manage.py", "windlass", "worker", "--burst")
    assert "completed" in _run(tmp_path, "manage.py", "windlass", "jobs")


def _run(folder: Path, *arguments: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("WINDLASS")}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=kept,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr
