"""Values of a model's ``config.json`` by their published keys, and what is said of bad ones."""

from collections.abc import Iterator, Mapping
from typing import Any

# No published model comes near; what lies beyond is a slip, and must not become a long wait.
MOST = {"layers": 10_000, "numbers": 10**9}
# Where descriptions of models that also see or hear keep their language model.
_NESTED = ("text_config", "llm_config", "language_config", "thinker_config")
_DEEPEST = 3


class Keys:
    """The keys of a description, those of a nested language model first.

    The methods raise ``ValueError`` with one sentence that names the key, its value, and what is
    expected.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        for _ in range(_DEEPEST):
            inner = (config.get(name) for name in _NESTED)
            nested = next((each for each in inner if isinstance(each, Mapping)), None)
            if nested is None:
                break
            config = {**_shared(config), **nested}
        self._config = config

    def __iter__(self) -> Iterator[Any]:
        return iter(self._config)

    def get(self, key: str) -> Any:
        """Return a value as it stands, or None."""
        return self._config.get(key)

    def whole(self, *keys: str, least: int = 1, most: int = MOST["numbers"]) -> int | None:
        """Return the whole number at the first of some keys that is there, or None."""
        for key in keys:
            value = self._config.get(key)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise ValueError(
                    f"{key} in config.json is {_shown(value)}: it must be a whole number from "
                    f"{least:,} to {most:,}."
                )
            return value
        return None

    def need(self, *keys: str, most: int = MOST["numbers"]) -> int:
        """Return the whole number at the first of some keys that is there."""
        value = self.whole(*keys, most=most)
        if value is None:
            others = f" (or {', '.join(keys[1:])})" if keys[1:] else ""
            raise ValueError(f"config.json does not say {keys[0]}{others}: add it.")
        return value

    def text(self, key: str) -> str | None:
        """Return the text at a key, or None."""
        value = self._config.get(key)
        if value is not None and not isinstance(value, str):
            raise ValueError(f"{key} in config.json is {_shown(value)}: it must be a text.")
        return value

    def flag(self, key: str) -> bool:
        """Return whether a key is set; it is not if it is missing."""
        value = self._config.get(key)
        if value is not None and not isinstance(value, bool):
            raise ValueError(f"{key} in config.json is {_shown(value)}: it must be true or false.")
        return bool(value)


def _shared(config: Mapping[str, Any]) -> dict[str, Any]:
    """What stands beside a nested language model but is about it."""
    about_it = ("quantization_config", "tie_word_embeddings", "is_encoder_decoder")
    return {key: config[key] for key in about_it if key in config}


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # too deep, or a number too long to be written
        return "too large to be shown"
    return text if len(text) <= 60 else f"{text[:57]}..."
