"""Resources where no worker is: declaring them, calling tasks directly, overriding."""

import inspect
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from windlass import Context, Depends, Windlass
from windlass.errors import InvalidOption, UsageError
from windlass.testing.work import work

app = Windlass("memory://")


class Pool:
    def __init__(self, name: str) -> None:
        self.name = name


@app.resource
async def settings() -> str:
    raise AssertionError("nothing but a worker opens it")


@app.resource
async def db(settings: str = Depends(settings)) -> AsyncIterator[Pool]:
    yield Pool(settings)


@app.task
def greet(user: str, pool: Pool = Depends(db)) -> str:
    return f"{user} in {pool.name}"


@app.task(context=True)
async def agreet(ctx: Context, user: str, *, pool: Pool = Depends(db)) -> str:
    return f"{user} in {pool.name}, attempt {ctx.attempt}"


SENTENCE = (
    "() needs 'pool', a resource that a worker opens when it starts: pass pool=…, or let a value "
    "stand for it with app.override(db, …)."
)


async def test_a_direct_call_takes_its_own_resource() -> None:
    mine = Pool("mine")
    assert greet("Ada", mine) == greet("Ada", pool=mine) == "Ada in mine"
    assert await agreet("Ada", pool=mine) == "Ada in mine, attempt 1"


async def test_a_direct_call_without_one_says_what_to_do() -> None:
    for task, name in ((greet, "greet"), (agreet, "agreet")):
        with pytest.raises(UsageError) as caught:
            task("Ada")
        assert str(caught.value) == name + SENTENCE


async def test_a_direct_call_with_wrong_arguments_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        greet("Ada", nothing=1)  # type: ignore[call-arg]


async def test_an_override_holds_for_direct_calls_and_ends() -> None:
    with app.override(db, Pool("outer")):
        with app.override(db, Pool("inner")):
            assert greet("Ada") == "Ada in inner"
        assert greet("Ada") == "Ada in outer"
        assert greet("Ada", Pool("mine")) == "Ada in mine"
        assert await agreet("Ada") == "Ada in outer, attempt 1"
    with pytest.raises(UsageError, match="greet"):
        greet("Ada")


async def test_an_override_ends_with_an_error_too() -> None:
    with pytest.raises(KeyError), app.override(db, Pool("outer")):
        raise KeyError
    with pytest.raises(UsageError, match="greet"):
        greet("Ada")


async def test_a_worker_uses_the_override_and_opens_nothing_behind_it() -> None:
    job = await greet.aenqueue("Ada")
    with app.override(db, Pool("fake")):
        await work(app)
    assert await job.aresult(timeout=0) == "Ada in fake"


async def test_a_resource_that_needs_another_gets_its_override() -> None:
    job = await greet.aenqueue("Ada")
    with app.override(settings, "test"):
        await work(app)
    assert await job.aresult(timeout=0) == "Ada in test"


async def test_an_override_holds_for_one_app_only() -> None:
    other = Windlass("memory://")
    task = other.task(name="greet")(inspect.unwrap(greet))
    with app.override(db, Pool("fake")), pytest.raises(UsageError, match="greet"):
        task("Ada")


def test_only_a_resource_can_be_asked_for_or_overridden() -> None:
    with pytest.raises(InvalidOption, match=r"Depends takes what @app\.resource made; got <func"):
        Depends(plain)  # type: ignore[arg-type]
    override = app.override(plain, 1)  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match=r"override takes what @app\.resource"), override:
        pass


def plain() -> int:
    return 1


def takes_something(name: str, pool: Pool = Depends(db)) -> Pool:
    return pool


def takes_by_place(pool: Pool = Depends(db), /) -> Pool:
    return pool


def takes_anything(*args: int, size: int = 1, **kwargs: int) -> int:
    return size


@pytest.mark.parametrize(
    ("func", "sentence"),
    [
        (takes_something, "takes_something is a resource and can take resources only, as in name="),
        (takes_by_place, "takes_by_place is a resource and can take resources only, as in pool="),
        (Pool, "A resource is made of a function; decorate a def or an async def."),
        (42, "A resource is made of a function"),
    ],
)
def test_what_cannot_be_a_resource_is_refused(func: Callable[..., Any], sentence: str) -> None:
    with pytest.raises(InvalidOption) as caught:
        app.resource(func)
    assert sentence in str(caught.value)


def test_parameters_with_other_defaults_stay_as_they_are() -> None:
    assert app.resource(takes_anything).needs == {}


def before_another(pool: Pool = Depends(db), user: int = 0) -> None: ...


def before_the_rest(pool: Pool = Depends(db), *users: int) -> None: ...


def by_place(user: int, pool: Pool = Depends(db), /) -> None: ...


def two_in_a_row(
    user: int, a: Pool = Depends(db), b: Pool = Depends(db), *, c: int = 0
) -> None: ...


def after_the_rest(*users: int, pool: Pool = Depends(db), c: int = 0) -> None: ...


@pytest.mark.parametrize(
    ("func", "sentence"),
    [
        (before_another, "'pool' of before_another() is left to the worker and must come after 'u"),
        (before_the_rest, "is left to the worker and must come after 'users'"),
        (by_place, "is left to the worker, so it cannot be positional-only."),
    ],
)
def test_a_handler_must_take_its_resources_by_name(func: Callable[..., Any], sentence: str) -> None:
    with pytest.raises(InvalidOption) as caught:
        Windlass("memory://").task(func)
    assert sentence in str(caught.value)


@pytest.mark.parametrize("func", [two_in_a_row, after_the_rest])
def test_resources_come_after_what_goes_by_place(func: Callable[..., Any]) -> None:
    task = Windlass("memory://").task(func)
    task.call(1, c=2)
    assert "Depends" not in repr(task)


def sort(n: int, pool: Pool = Depends(db)) -> None: ...


def test_a_child_process_cannot_have_one() -> None:
    with pytest.raises(InvalidOption, match="'pool' of sort is opened in the worker"):
        Windlass("memory://").task(process=True)(sort)


def test_they_say_what_they_are() -> None:
    assert repr(db) == "<Resource db>"
    assert str(inspect.signature(sort).parameters["pool"].default) == "Depends(db)"
