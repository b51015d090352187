"""The settings of a session: typed, with their ranges, changed by events."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from domain.errors import BadSetting
from domain.nearest import similar

Count = Annotated[int, Field(ge=1, le=100)]
Chars = Annotated[int, Field(ge=100, le=200_000)]


class Config(BaseModel):
    """What can be set, with defaults. Descriptions are the help of ``mind config``."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    model: Annotated[str, Field(min_length=1, max_length=300)] = Field(
        "local", description="the mind: local, local:small, openrouter:NAME, script:FILE …"
    )
    token_limit: Annotated[int, Field(ge=16, le=200_000)] = Field(
        4000, description="most tokens of a reply"
    )
    temperature: Annotated[float, Field(ge=0, le=2)] | None = Field(
        None, description="0 to 2; off leaves it to the mind"
    )
    timeout: Annotated[float, Field(gt=0, le=3600)] = Field(
        180.0, description="seconds that one attempt may take"
    )
    attempts: Annotated[int, Field(ge=1, le=20)] = Field(
        4, description="attempts before an iteration counts as failed"
    )
    failure_budget: Annotated[int, Field(ge=1, le=100)] = Field(
        3, description="failed or unreadable iterations in a row that end a run"
    )
    thought_display_count: Count = Field(10, description="thoughts shown to the mind")
    thought_display_chars: Chars = Field(3000, description="characters of thoughts shown")
    active_pool_size: Annotated[int, Field(ge=1, le=1000)] = Field(
        50, description="newest thoughts that samples are drawn from"
    )
    sampling: Literal["uniform", "recall"] = Field(
        "uniform", description="recall: a thought of a sparse cluster calls an older one back"
    )
    embedding_model: Annotated[str, Field(min_length=1, max_length=300)] = Field(
        "local", description="what makes vectors of thoughts: local, openai:NAME …, or off"
    )
    embedding_precision: Literal["float16", "float32"] = Field(
        "float16", description="how exactly new vectors are kept"
    )
    clustering: Literal["online", "compatible", "off"] = Field(
        "online", description="how thoughts are gathered; compatible is the two-phase way"
    )
    granularity: Annotated[float, Field(ge=0.5, le=5)] = Field(
        1.25, description="how alike thoughts of a cluster are; more makes more, smaller clusters"
    )
    min_cluster_size: Annotated[int, Field(ge=2, le=100)] = Field(
        3, description="fewest thoughts that found a cluster"
    )
    stability: Literal["normal", "strict"] = Field(
        "normal", description="strict: no thought ever changes its cluster"
    )
    founder: Literal["auto", "linkage", "hdbscan"] = Field(
        "auto", description="what finds new clusters; auto: linkage below 200 candidates"
    )
    centroid_match_threshold: Annotated[float, Field(gt=0, le=2)] = Field(
        0.3, description="largest cosine distance to a cluster, in the compatible way only"
    )
    draft_display_count: Count = Field(16, description="drafts shown to the mind")
    draft_display_chars: Chars = Field(2000, description="characters of drafts shown")
    history_display_count: Annotated[int, Field(ge=1, le=200)] = Field(
        40, description="turns of history shown to the mind at most"
    )
    history_display_chars: Chars = Field(8000, description="characters of history shown at most")
    context_tokens: Annotated[int, Field(ge=1000, le=1_000_000)] = Field(
        4000, description="most tokens of what the mind is shown, counted by an estimate"
    )
    memory_tokens: Annotated[int, Field(ge=100, le=100_000)] = Field(
        1200, description="most tokens of the artifacts among them"
    )
    evict_after: Annotated[int, Field(ge=1, le=1000)] = Field(
        20, description="turns of the user after which what nobody speaks of leaves the context"
    )
    detector: Literal["auto", "rules", "model", "off"] = Field(
        "auto", description="what finds artifacts; auto: a model where it is hosted, else rules"
    )
    detector_model: Annotated[str, Field(min_length=1, max_length=300)] | None = Field(
        None, description="the model that finds artifacts; off takes the mind's own"
    )
    detector_budget_usd: Annotated[float, Field(gt=0, le=100_000)] | None = Field(
        None, description="cost of finding artifacts at which the rules take over; off by default"
    )
    hard_signal_threshold: Count = Field(3, description="hard signals in a row that end a run")
    auto_accept_after: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        None, description="iterations without a new draft that accept the latest; off by default"
    )
    budget_usd: Annotated[float, Field(gt=0, le=100_000)] | None = Field(
        None, description="known cost of the session at which runs stop; off by default"
    )

    def changed(self, key: str, value: Any) -> "Config":
        """The settings with one of them at another value.

        Raises:
            BadSetting: there is no such key, or it does not take the value; the sentence gives
                the valid range.
        """
        Config.known(key)
        if value is None and not _can_be_off(key):
            raise BadSetting(f"The setting {key} can't be off: it is {Config.range_of(key)}.")
        try:
            return Config.model_validate({**self.model_dump(), key: value})
        except ValidationError:
            raise BadSetting(
                f"The setting {key} does not take {value!r}: it is {Config.range_of(key)}."
            ) from None

    @staticmethod
    def known(key: str) -> None:
        """Make sure that there is such a setting.

        Raises:
            BadSetting: there is none; the sentence names what may have been meant.
        """
        if key in Config.model_fields:
            return
        near = similar(key, Config.model_fields)
        raise BadSetting(
            f"There is no setting {key!r}: "
            + (
                f"did you mean {' or '.join(near)}? mind config lists all."
                if near
                else f"choose one of {', '.join(Config.model_fields)}."
            )
        )

    def read(self, key: str, text: str) -> Any:
        """The value that a person means by ``text``: ``off`` is none at all.

        Raises:
            BadSetting: as :meth:`changed`.
        """
        value = None if text.lower() in {"off", "none"} and _can_be_off(key) else text
        return getattr(self.changed(key, value), key)

    @staticmethod
    def range_of(key: str) -> str:
        """What a setting takes, in words: ``a whole number from 1 to 100``."""
        schema = Config.model_json_schema()["properties"][key]
        one = next((s for s in schema.get("anyOf", [schema]) if s.get("type") != "null"), schema)
        if "enum" in one:
            return " or ".join(one["enum"])
        kind = {"integer": "a whole number", "number": "a number", "string": "a text"}[one["type"]]
        low = one.get("minimum", one.get("exclusiveMinimum"))
        if low is not None:
            above = "more than" if "exclusiveMinimum" in one else "from"
            kind += f" {above} {low} to {one['maximum']}"
        return kind + (", or off" if _can_be_off(key) else "")


def _can_be_off(key: str) -> bool:
    field = Config.model_fields.get(key)
    return field is not None and field.default is None
