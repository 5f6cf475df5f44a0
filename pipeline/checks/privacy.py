"""Possible personal data and secrets in utterances, typed text, addresses and pages. The reason never repeats them."""

from collections.abc import Iterator

from pipeline.privacy import finding
from pipeline.privacy.argument_texts import replace_texts, texts_of_arguments
from schemas import REDACTED

from .material import Finding, Material

_ADDRESS = ("url",)  # of a turn: a check of its own


def in_chat(material: Material) -> Iterator[Finding]:
    """Utterances."""
    for turn in material.turns:
        if turn["type"] == "chat" and (kinds := _kinds(turn["utterance"])):
            yield Finding(turn["id"], "personal-data", f"Said: {kinds}.",
                          {"op": "set_utterance", "turn": turn["id"], "utterance": _mask(turn["utterance"])})


def in_arguments(material: Material) -> Iterator[Finding]:
    """What was typed, pasted, chosen, or asked by a dialog."""
    for turn in material.actions:
        arguments = turn["arguments"]
        if kinds := _kinds("\n".join(texts_of_arguments(arguments, _ADDRESS))):
            masked = replace_texts(arguments, _mask, _ADDRESS)
            yield Finding(turn["id"], "personal-data", f"Entered: {kinds}.",
                          {"op": "set_arguments", "turn": turn["id"], "arguments": masked})


def in_address(material: Material) -> Iterator[Finding]:
    """Addresses, each told once."""
    visited: set[str] = set()
    for turn in material.actions:
        address = turn["state"]["url"] if turn["state"] else ""
        if turn["intent"] == "load":
            address = f"{address}\n{turn['arguments']['url']}"
        if address not in visited and (kinds := _kinds(address)):
            visited.add(address)
            yield Finding(turn["id"], "personal-data", f"In the address: {kinds}.")


def in_page(material: Material) -> Iterator[Finding]:
    """Pages: told at the first turn that shows each datum."""
    visited: set[str] = set()
    for turn in material.actions:
        name = turn["state"] and turn["state"]["dom"]
        if not name or name in visited:
            continue
        visited.add(name)
        new = material.texts(name) - visited
        visited |= new
        if kinds := _kinds("\n".join(sorted(new))):
            yield Finding(turn["id"], "personal-data", f"On the page: {kinds}.")


def _kinds(text: str) -> str:
    kinds = dict.fromkeys(span.kind for span in finding.find(text))
    return ", ".join(finding.KINDS[kind] for kind in finding.KINDS if kind in kinds)


def _mask(text: str) -> str:
    return finding.replace(text, lambda span: REDACTED)
