"""A Django project with the dashboard in front of it: `python django_host.py FOLDER PORT`.

Django decides who looks: staff may operate, other users may read, nobody else may look. Prints the
session of one of each kind.
"""

import asyncio
import sys
from pathlib import Path
from typing import Any

import django
import uvicorn
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.core.management import call_command
from django.http import HttpRequest, HttpResponse
from django.urls import path

from windlass import Windlass
from windlass.server import Caller, dashboard

folder, port = Path(sys.argv[1]), int(sys.argv[2])
settings.configure(
    SECRET_KEY="only here",
    ROOT_URLCONF=__name__,
    ALLOWED_HOSTS=["*"],
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
    ],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": folder / "site.db"}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
)
django.setup()


def home(request: HttpRequest) -> HttpResponse:
    return HttpResponse("the shop")


urlpatterns = [path("", home)]


async def who(request: Any) -> Caller | None:
    """Whoever is logged in to Django."""
    from django.contrib.auth import aget_user
    from django.contrib.sessions.backends.db import SessionStore

    asked = HttpRequest()
    asked.session = SessionStore(request.cookies.get(settings.SESSION_COOKIE_NAME))
    user = await aget_user(asked)
    if not user.is_authenticated:
        return None
    return Caller.of(user.get_username(), "operate" if user.is_staff else "read")


def session_of(name: str, *, staff: bool) -> str:
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.auth.models import User
    from django.contrib.sessions.backends.db import SessionStore

    user = User.objects.create_user(name, is_staff=staff)
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    return str(session.session_key)


if __name__ == "__main__":
    call_command("migrate", verbosity=0)
    sessions = [session_of("ada", staff=True), session_of("kim", staff=False)]
    shop = Windlass(f"sqlite:///{folder}/jobs.db")
    application = dashboard(shop, authorize=who).in_front_of(get_asgi_application(), at="/jobs")
    config = uvicorn.Config(application, port=port, log_level="warning")
    server = uvicorn.Server(config)

    async def serve() -> None:
        serving = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        sys.stdout.write(f"{' '.join(sessions)}\n")
        sys.stdout.flush()
        await serving
        await shop.aclose()

    asyncio.run(serve())
