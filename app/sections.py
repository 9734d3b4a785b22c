"""The controls of the page's further sections: each has a table of its own.

The workshop's are in settings.py; every one of those is an axis of the atlases. These are not.
Names and URL keys differ throughout the page: all controls have one link in common.
"""

import param

from .settings import Choice


class Sharing(param.Parameterized):
    """The section on shared blocks."""

    samples = Choice(
        default=4,
        objects=range(1, 9),
        label="Samples of each prompt",
        unit="samples",
        key="samples",
        doc="answers to one prompt, begun together",
    )
    system_tokens = Choice(
        default=512,
        objects=[0, *(2**n for n in range(6, 13))],
        label="System prompt",
        unit="tokens",
        key="system",
        doc="with which every prompt begins",
    )
    prompt_rate = Choice(
        default=0.5,
        objects=[0.25, 0.5, 1, 2, 4, 8, 16, 32],
        label="Prompt rate",
        unit="prompts/s",
        key="prompts",
        doc="arrivals on average, each with all of its samples",
    )
    keep_prefixes = Choice(
        default=0,
        objects=[0, 1],
        label="Keep prefixes",
        unit="",
        key="keep",
        doc="cached beginnings stay until their blocks are needed",
    )


# By the name that the page's script knows a section by.
SECTIONS: dict[str, type[param.Parameterized]] = {"sharing": Sharing}
