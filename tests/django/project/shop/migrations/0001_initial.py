"""The table of orders."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Made by hand, as short as it can be."""

    initial = True
    dependencies = ()
    operations = (
        migrations.CreateModel(
            name="Order",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("item", models.CharField(max_length=50)),
                ("confirmed", models.BooleanField(default=False)),
            ],
        ),
    )
