"""What Mind2Web's users do with it before training, from the paper's description (section 3, figures 4 and 5)."""

import copy
import json

from lxml import etree

from .test_mind2web import exported, tasks  # noqa: F401  (a fixture)

ID = "backend_node_id"
SAID = ("role", "aria_role", "type", "alt", "aria_description", "aria_label", "label", "title", "name", "text_value",
        "value", "placeholder", "input_checked", "input_value", "option_selected", "class")


def pruned(page: etree._Element, chosen: list[str]) -> etree._Element:
    """The candidates with what they stand in, what is in them to a depth of five, and three siblings either side."""
    kept = set()
    for number in chosen:
        [node] = page.xpath(f"//*[@{ID}='{number}']")
        level, inside = [node], []
        for _ in range(5):
            level = [child for parent in level for child in parent]
            inside += level
        near = [node]
        if node.getparent() is not None:
            siblings = [each for each in node.getparent() if each.tag != "text"]
            place = siblings.index(node)
            near = siblings[max(0, place - 3):place + 4]
        kept |= {each.get(ID) for each in (*node.iterancestors(), *inside[:50], *near)}
    tree = copy.deepcopy(page)
    for node in reversed(list(tree.iter())):
        owner = node.getparent() if node.tag == "text" else node
        if owner.get(ID) not in kept and node.getparent() is not None:
            for child in list(node):
                node.addprevious(child)
            node.getparent().remove(node)
    return tree


def told(node: etree._Element, numbers: dict[str, int]) -> str:
    """A tree as text: tags, the number of each candidate, values that say something, texts."""
    if node.tag == "text":
        return " ".join((node.text or "").split()[:20])
    values = " ".join(dict.fromkeys(value for name in SAID if (value := node.get(name)))).split()[:20]
    head = [node.tag, *([f"id={numbers[node.get(ID)]}"] if node.get(ID) in numbers else []), *values]
    return " ".join(["(" + " ".join(head), *(told(child, numbers) for child in node)]) + ")"


def question(action: dict, task: dict, previous: list[str], chosen: list[str], right: str) -> tuple[str, str]:
    """The multiple choice of some candidates, and the answer."""
    tree = pruned(etree.fromstring(action["cleaned_html"]), chosen)
    order = [node.get(ID) for node in tree.iter() if node.get(ID) in chosen]
    numbers = {number: place for place, number in enumerate(order)}
    lines = [told(tree, numbers), f"Task: {task['confirmed_task']}", "Previous actions:", *previous[-5:], "A. None"]
    for number, place in numbers.items():
        [node] = tree.xpath(f"//*[@{ID}='{number}']")
        lines.append(f"{chr(66 + place)}. {' '.join(told(node, numbers).split()[:10])}")
    if right not in numbers:
        return "\n".join(lines), "A."
    operation = action["operation"]
    value = "" if operation["op"] == "CLICK" else f"\nValue: {operation['value']}"
    return "\n".join(lines), f"{chr(66 + numbers[right])}.\nAction: {operation['op']}{value}"


def test_every_action_becomes_candidates_and_questions(exported):  # noqa: F811
    answers = []
    for task in tasks(exported[2]):
        for place, action in enumerate(task["actions"]):
            [positive], negatives = action["pos_candidates"], action["neg_candidates"]
            page = etree.fromstring(action["cleaned_html"])
            everything = [each[ID] for each in (positive, *negatives)]
            assert len(set(everything)) == len(everything)
            for candidate in (positive, *negatives):
                tree = pruned(page, [candidate[ID]])
                [node] = tree.xpath(f"//*[@{ID}='{candidate[ID]}']")
                assert node.tag == candidate["tag"] and told(node, {}).startswith(f"({node.tag}")
                attributes = json.loads(candidate["attributes"])
                assert not attributes.get("is_clickable") or attributes["is_clickable"] == "true"
            groups = [everything[start:start + 5] for start in range(0, len(everything), 5)]
            made = [question(action, task, task["action_reprs"][:place], group, positive[ID]) for group in groups]
            assert [answer[0] != "A" for _, answer in made] == [True] + [False] * (len(groups) - 1)
            assert all(text.count("\n" + chr(65 + len(group)) + ". (") == 1
                       for (text, _), group in zip(made, groups, strict=True))
            answers.append(made[0][1].partition("\n")[2])
    assert len(answers) == 18 and {"Action: CLICK", "Action: TYPE\nValue: lamps", "Action: SELECT\nValue: Two"} == set(
        answers)
