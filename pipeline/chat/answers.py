"""Which message each reply answers, and which one each reaction is about."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from schemas import limits

from .log import Message, Reaction
from .phrases import Parts, take_apart

_LONGEST = 64  # characters of a quote that are compared; tools cut them at fewer
_Given = dict[tuple[str, str], None]  # emoji and who, in order: one gives each but once


@dataclass
class Answered:
    """What was said, with quotes taken out of it and with what others reacted.

    `replies` has for each message the place in `messages` of the one that it answers. `problems`: what was not
    understood, by line, each with the reason.
    """

    messages: list[Message] = field(default_factory=list)
    replies: list[int | None] = field(default_factory=list)
    problems: list[tuple[int, str]] = field(default_factory=list)


def match(messages: Sequence[Message]) -> Answered:
    """Messages in the log's order, told apart from what is but a reaction to one."""
    parts = [take_apart(message.text) for message in messages]
    parts = [part if part.quote else replace(part, quote=message.quote)
             for message, part in zip(messages, parts, strict=True)]
    targets = _targets(messages, parts)
    done = Answered()
    given = _given(messages, parts, targets, done.problems)
    places: dict[int, int] = {}
    for index, (message, part) in enumerate(zip(messages, parts, strict=True)):
        if part.text:
            places[index] = len(done.messages)
            told = (Reaction(emoji, speakers=(who,)) for emoji, who in given.get(index, ()))
            done.messages.append(replace(message, speaker=message.speaker or "?", text=part.text,
                                         reactions=merged([*message.reactions, *told])))
        elif not part.emoji:
            done.problems.append((message.line, "a reply without text"))
    for index in places:
        target = targets[index]
        done.replies.append(None if target is None else places.get(target))
        if done.replies[-1] is None and (messages[index].reply_to or parts[index].quote):
            done.problems.append((messages[index].line, "what it answers is not in the log"))
    return done


def merged(reactions: Iterable[Reaction]) -> tuple[Reaction, ...]:
    """One reaction an emoji, with all that gave it."""
    found: dict[str, Reaction] = {}
    for each in reactions:
        if known := found.get(each.emoji):
            people = tuple(dict.fromkeys(known.speakers + each.speakers))
            each = Reaction(each.emoji, min(known.count + each.count, limits.MAX_INTEGER), people)
        found[each.emoji] = each
    return tuple(found.values())


def _targets(messages: Sequence[Message], parts: Sequence[Parts]) -> list[int | None]:
    """For each message the one that it answers or reacts to: by its id, else by the quote."""
    named = {message.id: index for index, message in enumerate(messages) if message.id}
    quoted = _beginning([part.text for part in parts], [part.quote for part in parts])
    found = [named.get(message.reply_to) if message.reply_to else at
             for message, at in zip(messages, quoted, strict=True)]
    return [None if at == index else at for index, at in enumerate(found)]


def _beginning(texts: Sequence[str], quotes: Sequence[str]) -> list[int | None]:
    """For each quote the latest text before it that is the same, or else begins so.

    One pass for each length of a quote: as quick with many messages that begin alike.
    """
    texts = [_plain(text) for text in texts]
    whole = [_plain(quote) for quote in quotes]
    wanted = [quote.removesuffix("...").rstrip()[:_LONGEST] for quote in whole]
    found: list[int | None] = [None] * len(texts)
    same: list[int | None] = [None] * len(texts)
    latest: dict[str, int] = {}
    for index, text in enumerate(texts):
        same[index] = latest.get(whole[index]) if whole[index] else None
        latest[text] = index
    for length in {len(quote) for quote in wanted if quote}:
        latest = {}
        for index, text in enumerate(texts):
            if len(wanted[index]) == length:
                found[index] = latest.get(wanted[index])
            latest[text[:length]] = index
    return [at if exact is None else exact for exact, at in zip(same, found, strict=True)]


def _plain(text: str) -> str:
    """As quotes have it: in one line, with straight quotation marks, and three dots where it is cut."""
    return " ".join(text.translate(str.maketrans("“”„«»", '"""""')).replace("…", "...").split())


def _given(messages: Sequence[Message], parts: Sequence[Parts], targets: Sequence[int | None],
           problems: list[tuple[int, str]]) -> dict[int, _Given]:
    """The reactions that stand in the log as messages, by the place of the message that they are about."""
    given: dict[int, _Given] = {}
    for message, part, target in zip(messages, parts, targets, strict=True):
        if not part.emoji:
            continue
        one = (part.emoji, message.speaker)
        if target is None:
            problems.append((message.line, "what it reacts to is not in the log"))
        elif not part.taken_back:
            given.setdefault(target, {})[one] = None
        elif one in given.get(target, ()):
            del given[target][one]
        else:
            problems.append((message.line, "takes back a reaction that is not in the log"))
    return given
