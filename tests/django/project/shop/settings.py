"""Settings of the shop; the tests say by variables which database it is to use."""

import json
import os

import pymysql

pymysql.install_as_MySQLdb()

SECRET_KEY = "only here"
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "shop.urls"
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
    "windlass.django",
    "shop",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
DATABASES = {"default": json.loads(os.environ["SHOP_DATABASE"])}
if "SHOP_JOBS" in os.environ:
    DATABASES["jobs"] = {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ["SHOP_JOBS"]}
WINDLASS = json.loads(os.environ.get("SHOP_WINDLASS", '{"DATABASE": "default"}'))
STATIC_URL = "static/"
TASKS = {
    "default": {
        "BACKEND": "windlass.django.tasks.WindlassBackend",
        "QUEUES": [],
        "OPTIONS": {"max_retries": int(os.environ.get("SHOP_RETRIES", "0"))},
    }
}
