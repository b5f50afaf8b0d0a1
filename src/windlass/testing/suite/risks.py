"""What a store says of how its engine is set up."""

from __future__ import annotations

from ...stores.contract import Store


async def test_every_risk_is_a_sentence(store: Store) -> None:
    for risk in await store.risks():
        assert risk.endswith(".")
        assert len(risk) > 20
