"""Assignment of the roles instructor and navigator."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from schemas import InputError
from schemas.formats.recording import SPEAKERS

_WORDS = {
    "instructor": ("instructor", "teacher", "user", "requester", "customer", "client", "human"),
    "navigator": ("navigator", "assistant", "agent", "worker", "operator", "wizard", "bot"),
}


def assign_roles(names: Sequence[str], assigned: Mapping[str, str] | None, elsewhere: Collection[str] = ()
                 ) -> tuple[dict[str, str], list[str]]:
    """Role by name, and the names whose role is a mere default.

    `names` holds the speaker of every message in order. What was `assigned` stands (letter case does not matter); then
    a role word in the name decides; of the rest, who speaks first instructs, as a session begins with the task, and who
    speaks most of the others navigates. Further people are taken for instructors and named in the second result. Raises
    InputError for a role that is none, or a given name that speaks neither here nor `elsewhere` in the session.
    """
    roles = _assigned_roles(names, assigned or {}, {name.casefold().strip() for name in elsewhere})
    filled = {*(assigned or {}).values()} if elsewhere else set()
    counts = Counter(names)
    for name in counts:
        if name not in roles and (role := _role_in_name(name)):
            roles[name] = role
    rest = [name for name in counts if name not in roles]  # in order of first appearance
    for role in ("instructor", "navigator"):
        if rest and role not in {*roles.values(), *filled}:
            chosen = rest[0] if role == "instructor" else max(rest, key=lambda name: counts[name])
            roles[chosen] = role
            rest.remove(chosen)
    return roles | dict.fromkeys(rest, "instructor"), rest


def _assigned_roles(names: Sequence[str], assigned: Mapping[str, str], elsewhere: Collection[str]) -> dict[str, str]:
    roles: dict[str, str] = {}
    for wanted, role in assigned.items():
        if role not in SPEAKERS:
            raise InputError(f"speaker {wanted!r}: unknown role {role!r}; choose {' or '.join(SPEAKERS)}")
        matches = [name for name in names if name.casefold().strip() == wanted.casefold().strip()]
        if not matches and wanted.casefold().strip() not in elsewhere:
            raise InputError(f"speaker {wanted!r} does not occur in the chat; it has {', '.join(sorted(set(names)))}")
        roles |= dict.fromkeys(matches, role)
    return roles


def _role_in_name(name: str) -> str | None:
    """The role that a name's own words tell; None when they tell none or both."""
    words = "".join(letter if letter.isalnum() else " " for letter in name.lower()).split()
    roles = [role for role, known in _WORDS.items() if any(word.rstrip("0123456789") in known for word in words)]
    return roles[0] if len(roles) == 1 else None
