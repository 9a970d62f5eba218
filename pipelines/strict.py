"""The base of everything that a plan may say."""

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """A mapping of known keys to values of the right type; anything else is refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=False)
