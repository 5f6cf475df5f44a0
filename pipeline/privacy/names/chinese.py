"""Names of persons in Chinese text: a surname and one or two characters, if a title, a label or the sentence identifies
them as a name."""

from collections.abc import Iterator
from functools import lru_cache

from pipeline.privacy.patterns import pattern

from . import lists

_COMPOUND = (
    "欧阳", "司马", "上官", "诸葛", "东方", "皇甫", "尉迟", "公孙", "慕容", "司徒", "令狐", "夏侯", "端木", "歐陽",
    "諸葛")
_TITLE = pattern("先生|女士|小姐|老师|教授|医生|经理|总监|主任|律师|同学|师傅|阿姨|部长|局长|校长|博士|会计|护士|"
                 "老師|醫生|經理|會計|總監")
_LABEL = pattern("(?:姓名|名字|收件人|收货人|联系人|聯絡人|收件者|乘客|乘机人|旅客|住客|入住人|客户|顾客|用户|"
                 "用户名|员工|患者|学生|"
                 "作者|负责人|预订人|预定人|订票人|持卡人|申请人|寄件人|发件人|经办人|登录为|已登录)"
                 r"[0-9]{0,3}(?:[ \t]*[:：=是为][ \t]*|[ \t]+)|我叫|我是|名叫|叫做|你好[,，]?|您好[,，]?|亲爱的|"
                 r"尊敬的|谢谢[,，]|此致[,，]?")
_CANDIDATE = pattern(r"\p{Han}{1,40}")
_DOTTED = pattern(r"\p{Han}{1,6}[·•]\p{Han}{1,6}(?:[·•]\p{Han}{1,6})?")
_BEFORE = frozenset("和与给向对由是叫找请跟同为及被把让问告邀到从的、")  # what a name may follow
_AFTER = frozenset("和与给的在是已说你您及、将要有发评预被请把了")  # what may follow a name
_FILLING = _BEFORE | _AFTER
_NUMBERS = frozenset("一二三四五六七八九十百千万两零")
# What stands before a title and names nobody.
_WORKS = frozenset(("高级", "项目", "客户", "产品", "班主", "部门", "安全", "经理", "时任"))
# Last characters of words and places that begin like names.
_NO_NAME = frozenset("市区县省路街店性化版机站网业品司厂院校部局馆园山河江湖海岛国语文费价号码章节页"
                     "卡券包袋车船票房式类型力度量率学家界边周银")
_COMMON = frozenset((
    "高清", "黄金", "马上", "方法", "方便", "方式", "安全", "平安", "时间", "白天", "白云", "黄山", "金山", "高山",
    "温和", "平静", "安静", "文明", "文静", "明亮", "高峰", "高兴", "成功", "成都", "应用", "管理", "关于", "任何",
    "严重", "李宁", "周大福", "张家界", "马拉松", "孙悟空", "周生生", "张小泉", "王老吉", "康师傅", "许多", "何时",
    "方向", "华为"))


def persons(text: str) -> Iterator[tuple[int, int]]:
    """Where names stand."""
    if not any(_is_han(character) for character in text):
        return
    yield from (match.span() for match in _DOTTED.finditer(text))
    for title in _TITLE.finditer(text):
        if (start := _before_title(text, title.start())) is not None:
            yield start, title.end() if title.start() - start == 1 else title.start()
    for title in _LABEL.finditer(text):
        if (length := _length(text, title.end(), labelled=True)):
            yield title.end(), title.end() + length
    for run in _CANDIDATE.finditer(text):
        for start in range(run.start(), run.end() - 1):
            if (start == run.start() or text[start - 1] in _BEFORE) and (length := _length(text, start)):
                yield start, start + length


def _before_title(text: str, title: int) -> int | None:
    """Where the name before a title begins."""
    surnames = _surnames()
    for length in (4, 3, 2, 1):
        start = title - length
        if start < 0 or not all(_is_han(character) for character in text[start:title]):
            continue
        begins_so = text[start] in surnames if length < 4 else text[start:start + 2] in _COMPOUND
        clear = start == 0 or not _is_han(text[start - 1]) or text[start - 1] in _BEFORE or text[start - 1] in "约了过"
        if clear and (begins_so or text[start:start + 2] in _COMPOUND) and text[start:title] not in _WORKS:
            return start
        if length == 1 and text[start] in lists.usual_surnames("zh_CN") and text[start - 1:title] not in _WORKS:
            return start
    return None


def _length(text: str, start: int, labelled: bool = False) -> int:
    """How many characters from here on are a name; 0 when none is sure."""
    surname = 2 if text[start:start + 2] in _COMPOUND else 1 if text[start:start + 1] in _surnames() else 0
    if not surname:
        return 0
    for first_name_length in (2, 1):
        end = start + surname + first_name_length
        name = text[start:end]
        if len(name) < surname + first_name_length or not all(_is_han(character)
                                                              for character in name) or name in _COMMON:
            continue
        open_end = end == len(text) or not _is_han(text[end])
        if labelled and (open_end or text[end] in _AFTER):
            return surname + first_name_length
        if not (open_end or text[end] in _AFTER) or name[-1] in _NO_NAME or _FILLING & set(name[surname:]):
            continue
        known = sum(character in _first_names() for character in name[surname:])
        alone = start == 0 or not _is_han(text[start - 1])
        is_certain = known == first_name_length or (known and (
            surname == 2 or (first_name_length == 2 and (alone or text[start - 1] in "给和与"))))
        if is_certain and (first_name_length == 2
                           or (open_end and alone and name[-1] in lists.names_of("zh", "zh_CN").first_names)):
            return surname + first_name_length
    return 0


@lru_cache(maxsize=1)
def _surnames() -> frozenset[str]:
    return frozenset(name for name in lists.names_of("zh", "zh_CN", "zh_TW").surnames if len(name) == 1) - _NUMBERS


@lru_cache(maxsize=1)
def _first_names() -> frozenset[str]:
    return frozenset("".join(lists.names_of("zh", "zh_CN", "zh_TW").first_names))


def _is_han(character: str) -> bool:
    return "\u4e00" <= character <= "\u9fff"
