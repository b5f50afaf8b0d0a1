"""Makes the tables of jobs in the database that `settings.WINDLASS` names, and in no other."""

from __future__ import annotations

from typing import Any

from django.db import migrations, models


def make_tables(apps: Any, schema_editor: Any) -> None:
    """Look at what is there: a worker may have made some of the tables, or all."""
    from ..conf import conf
    from ..schema import migrate

    if schema_editor.connection.alias == conf().database:
        migrate(schema_editor.connection)


class Migration(migrations.Migration):
    """Tables, and the name under which the admin lists jobs."""

    atomic = False
    initial = True
    operations = (
        migrations.RunPython(make_tables, migrations.RunPython.noop),
        migrations.CreateModel(
            name="Job",
            fields=[("id", models.CharField(max_length=64, primary_key=True, serialize=False))],
            options={"managed": False, "default_permissions": ("view", "change")},
        ),
    )
