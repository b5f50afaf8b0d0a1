"""The master that the sentinels name, asked anew after every loss."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import StoreError
from .fault import Lost, refusal
from .io import Io, Link, pack
from .route import Master, login_of
from .url import Address, Settings

_ROLE = pack(("ROLE",))


class SentinelRoute(Master):
    """One master, found through the sentinels each time."""

    def __init__(self, io: Io, settings: Settings) -> None:
        super().__init__(io, login_of(settings), settings.addresses[0])
        self._name = settings.master
        self._sentinels = list(settings.addresses)
        self._reachable = settings.reachable
        self._sentinel_login = self._login._replace(
            username=settings.sentinel_username,
            password=settings.sentinel_password,
            db=0,
            tls=settings.sentinel_tls,
            credentials=None,
        )

    async def _reach(self, abandoned: Sequence[bytes]) -> Link:
        failure: Exception | None = None
        for sentinel in tuple(self._sentinels):
            try:
                master = await self._ask(sentinel)
                link = await self._master(master, abandoned)
            except (Lost, StoreError) as error:
                # One that answers badly says more than one that does not answer.
                if failure is None or isinstance(failure, Lost):
                    failure = error
                continue
            self._sentinels.remove(sentinel)
            self._sentinels.insert(0, sentinel)
            return link
        assert failure is not None
        raise failure

    async def _ask(self, sentinel: Address) -> Address:
        link = await self._io.connect(sentinel, self._sentinel_login, ())
        try:
            reply = await link.send(pack(("SENTINEL", "GET-MASTER-ADDR-BY-NAME", self._name)))
        finally:
            link.close("it was asked")
        if isinstance(reply, Lost):
            raise reply
        if isinstance(reply, Exception):
            raise refusal(reply, sentinel)
        if reply is None:
            raise StoreError(
                f"The sentinel at {sentinel} knows no master named {self._name}: "
                "correct the name in the URL, redis+sentinel://host:26379/NAME."
            )
        announced = Address(reply[0].decode(), int(reply[1]))
        return self._reachable.get(announced, announced)

    async def _master(self, address: Address, abandoned: Sequence[bytes]) -> Link:
        link = await self._io.connect(address, self._login, abandoned)
        reply = await link.send(_ROLE)
        if isinstance(reply, list) and reply[0] == b"master":
            return link
        link.close("it is not the master")
        if isinstance(reply, Lost):
            raise Lost(address, reply.reason, sent=False)
        if isinstance(reply, Exception):
            raise refusal(reply, address)
        raise Lost(address, "the sentinels name it master, but it is none yet", sent=False)
