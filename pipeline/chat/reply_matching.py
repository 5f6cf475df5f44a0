"""The message that each reply answers, and the one that each reaction refers to."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from schemas import limits

from .log import Message, Reaction
from .phrases import Parts, parse_text

_LONGEST = 64  # characters of a quote that are compared; tools cut them at fewer
_ReactionKeys = dict[tuple[str, str], None]  # emoji and who, in order: one gives each but once


@dataclass
class MatchedMessages:
    """What was said, with quotes taken out of it and with what others reacted.

    `replies` has for each message the place in `messages` of the one that it answers. `problems`: what was not
    understood, by line, each with the reason.
    """

    messages: list[Message] = field(default_factory=list)
    replies: list[int | None] = field(default_factory=list)
    problems: list[tuple[int, str]] = field(default_factory=list)


def match_replies(messages: Sequence[Message]) -> MatchedMessages:
    """Messages in the log's order, told apart from what is but a reaction to one."""
    parts = [parse_text(message.text) for message in messages]
    parts = [part if part.quote else replace(part, quote=message.quote)
             for message, part in zip(messages, parts, strict=True)]
    targets = _targets(messages, parts)
    done = MatchedMessages()
    reactions_by_message = _reactions_by_message(messages, parts, targets, done.problems)
    line_numbers: dict[int, int] = {}
    for index, (message, part) in enumerate(zip(messages, parts, strict=True)):
        if part.text:
            line_numbers[index] = len(done.messages)
            added = (Reaction(emoji, speakers=(speaker,)) for emoji, speaker in reactions_by_message.get(index, ()))
            done.messages.append(replace(message, speaker=message.speaker or "?", text=part.text,
                                         reactions=merge_reactions([*message.reactions, *added])))
        elif not part.emoji:
            done.problems.append((message.line, "a reply without text"))
    for index in line_numbers:
        target = targets[index]
        done.replies.append(None if target is None else line_numbers.get(target))
        if done.replies[-1] is None and (messages[index].reply_to or parts[index].quote):
            done.problems.append((messages[index].line, "what it answers is not in the log"))
    return done


def merge_reactions(reactions: Iterable[Reaction]) -> tuple[Reaction, ...]:
    """One reaction an emoji, with all that gave it."""
    by_emoji: dict[str, Reaction] = {}
    for reaction in reactions:
        if known := by_emoji.get(reaction.emoji):
            people = tuple(dict.fromkeys(known.speakers + reaction.speakers))
            reaction = Reaction(reaction.emoji, min(known.count + reaction.count, limits.MAX_INTEGER), people)
        by_emoji[reaction.emoji] = reaction
    return tuple(by_emoji.values())


def _targets(messages: Sequence[Message], parts: Sequence[Parts]) -> list[int | None]:
    """For each message the one that it answers or reacts to: by its id, else by the quote."""
    named = {message.id: index for index, message in enumerate(messages) if message.id}
    quoted = _beginning([part.text for part in parts], [part.quote for part in parts])
    targets = [named.get(message.reply_to) if message.reply_to else quoted_index
             for message, quoted_index in zip(messages, quoted, strict=True)]
    return [None if quoted_index == index else quoted_index for index, quoted_index in enumerate(targets)]


def _beginning(texts: Sequence[str], quotes: Sequence[str]) -> list[int | None]:
    """For each quote the latest text before it that is the same, or else begins so.

    One pass for each length of a quote: as quick with many messages that begin alike.
    """
    texts = [_plain(text) for text in texts]
    full_quotes = [_plain(quote) for quote in quotes]
    wanted = [quote.removesuffix("...").rstrip()[:_LONGEST] for quote in full_quotes]
    by_prefix: list[int | None] = [None] * len(texts)
    exact_matches: list[int | None] = [None] * len(texts)
    latest: dict[str, int] = {}
    for index, text in enumerate(texts):
        exact_matches[index] = latest.get(full_quotes[index]) if full_quotes[index] else None
        latest[text] = index
    for length in {len(quote) for quote in wanted if quote}:
        latest = {}
        for index, text in enumerate(texts):
            if len(wanted[index]) == length:
                by_prefix[index] = latest.get(wanted[index])
            latest[text[:length]] = index
    return [prefix_match if exact is None else exact for exact,
            prefix_match in zip(exact_matches, by_prefix, strict=True)]


def _plain(text: str) -> str:
    """As quotes have it: in one line, with straight quotation marks, and three dots where it is cut."""
    return " ".join(text.translate(str.maketrans("“”„«»", '"""""')).replace("…", "...").split())


def _reactions_by_message(messages: Sequence[Message], parts: Sequence[Parts], targets: Sequence[int | None],
           problems: list[tuple[int, str]]) -> dict[int, _ReactionKeys]:
    """The reactions that stand in the log as messages, by the place of the message that they are about."""
    reactions: dict[int, _ReactionKeys] = {}
    for message, part, target in zip(messages, parts, targets, strict=True):
        if not part.emoji:
            continue
        key = (part.emoji, message.speaker)
        if target is None:
            problems.append((message.line, "what it reacts to is not in the log"))
        elif not part.is_removal:
            reactions.setdefault(target, {})[key] = None
        elif key in reactions.get(target, ()):
            del reactions[target][key]
        else:
            problems.append((message.line, "takes back a reaction that is not in the log"))
    return reactions
