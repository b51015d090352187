"""What an agent may use up, and whether it has."""

from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

Reason = Literal["budget", "time", "idle"]


class Limits(BaseModel):
    """Bounds of an agent; None is no bound. They hold for all its turns together, but ``idle``."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    budget_usd: Annotated[float, Field(gt=0, le=100_000)] | None = Field(
        None, description="known cost, in US dollars"
    )
    tokens: Annotated[int, Field(gt=0)] | None = Field(
        None, description="tokens in and out of all calls of the model"
    )
    turns: Annotated[int, Field(gt=0)] | None = Field(None, description="calls of the model")
    seconds: Annotated[float, Field(gt=0)] | None = Field(
        None, description="seconds that its turns take, all together"
    )
    idle_seconds: Annotated[float, Field(gt=0)] | None = Field(
        None, description="seconds within a turn in which nothing at all arrives"
    )

    def narrowed(self, other: "Limits") -> "Limits":
        """The tighter of both, bound by bound."""
        mine, others = self.model_dump(), other.model_dump()
        return Limits.model_validate(
            {
                name: min(value for value in (mine[name], others[name]) if value is not None)
                if mine[name] is not None or others[name] is not None
                else None
                for name in mine
            }
        )


class Spent(NamedTuple):
    """What an agent has used up so far."""

    cost_usd: float = 0.0
    tokens: int = 0
    calls: int = 0
    seconds: float = 0.0


def used_up(limits: Limits, spent: Spent) -> tuple[Reason, str] | None:
    """The bound that is reached, and a sentence about it; None while there is room."""
    if limits.budget_usd is not None and spent.cost_usd >= limits.budget_usd:
        return "budget", f"Its budget of ${limits.budget_usd:g} is used up (${spent.cost_usd:.4f})."
    if limits.tokens is not None and spent.tokens >= limits.tokens:
        return "budget", f"Its {limits.tokens:,} tokens are used up ({spent.tokens:,})."
    if limits.turns is not None and spent.calls >= limits.turns:
        return "budget", f"Its {limits.turns:,} calls of the model are used up."
    if limits.seconds is not None and spent.seconds >= limits.seconds:
        return "time", f"Its {limits.seconds:g} seconds are over."
    return None
