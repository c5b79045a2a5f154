"""How objects are called in the text."""

from __future__ import annotations

from collections.abc import Mapping

from envs.alfworld.package import load_alfworld


def shown_names(things: Mapping[str, str]) -> dict[str, str]:
    """Name of each object (engine id -> type) as the player sees it, such as `mug 2`; numbered by alfworld's rules."""
    load_alfworld()
    from alfworld.agents.utils.misc import Demangler
    from textworld.generator.game import EntityInfo

    demangler = Demangler(game_infos={name: EntityInfo(name, kind) for name, kind in things.items()}, shuffle=False)
    return {name: demangler.demangle_alfred_name(name) for name in things}
