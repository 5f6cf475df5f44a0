"""The rows of the table of traps. Trusted input in a real Chromium, never dispatched events.

Each row: the trap's number, what the person does, the page, and the turns as `line()` writes them.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from . import gesture_rows
from .sessions import click_in, painted
from .traps import TRAPS, click, closed_root_found, trap

__all__ = ["TRAPS", "gesture_rows"]


@trap(1, "presses a button whose handler removes it at once",
      "<button id=a onpointerdown='this.remove()'>Go</button>", ["click button#a"])
async def _(page):
    await click(page, "#a")


@trap(2, "ticks a checkbox", "<input type=checkbox id=c>", ["change input#c checked=True"])
async def _(page):
    await click(page, "#c")


@trap(3, "clicks the label of a checkbox", "<label id=l for=c>Yes</label> <input type=checkbox id=c>",
      ["change input#c checked=True"])
async def _(page):
    await click(page, "#l")


@trap(3, "clicks the label of a text field, then types", "<label id=l for=c>Name</label> <input id=c>",
      ["click label#l", "textInput input#c text='ab'"])
async def _(page):
    await click(page, "#l")
    await page.keyboard.type("ab")


@trap(4, "types and presses Enter at once",
      "<form id=f onsubmit='event.preventDefault()'><input id=q name=q><button id=b>Search</button></form>",
      ["click input#q", "textInput input#q text='hello'", "submit form#f"])
async def _(page):
    await click(page, "#q")
    await page.keyboard.type("hello")
    await page.keyboard.press("Enter")


@trap(5, "presses Space and Enter on a focused button", "<button id=b autofocus>B</button>",
      ["click button#b keyboard=True", "click button#b keyboard=True"])
async def _(page):
    await page.keyboard.press("Space")
    await page.keyboard.press("Enter")


@trap(6, "clicks the submit button",
      "<form id=f onsubmit='event.preventDefault()'><input id=q><button id=b>Search</button></form>",
      ["click button#b"])
async def _(page):
    await click(page, "#b")


@trap(7, "nothing; the page dispatches clicks and input itself",
      "<input id=i><button id=b>B</button><script>setInterval(() => {b.click();"
      "b.dispatchEvent(new Event('pointerdown')); i.value = 'x';"
      "i.dispatchEvent(new Event('input', {bubbles: true}))}, 20)</script>", [])
async def _(page):
    await page.wait_for_timeout(200)


@trap(8, "clicks a button that sets a field's value",
      "<input id=i><button id=b onclick='i.value = 42'>B</button>", ["click button#b"])
async def _(page):
    await click(page, "#b")


@trap(9, "types, then clicks elsewhere", "<input id=i><p id=p>Text</p>",
      ["click input#i", "textInput input#i text='abc'", "click p#p"])
async def _(page):
    await click(page, "#i")
    await page.keyboard.type("abc")
    await click(page, "#p")


@trap(9, "types what the page puts into form, and what it puts something else in the place of, then clicks elsewhere",
      "<input id=i onkeyup='i.value = i.value.toUpperCase()'><input id=j onkeyup='j.value = `other`'><p id=p>Text</p>",
      ["click input#i", "textInput input#i text='AB'", "click input#j", "textInput input#j text='c'", "click p#p"])
async def _(page):
    await click(page, "#i")
    await page.keyboard.type("ab")
    await click(page, "#j")
    await page.keyboard.type("c")
    await click(page, "#p")


@trap(10, "types slowly, goes on with Tab", "<input id=i autofocus><input id=j>",
      ["textInput input#i text='ab'", "textInput input#j text='cd'"])
async def _(page):
    await page.keyboard.type("ab", delay=600)
    await page.keyboard.press("Tab")
    await page.keyboard.type("cd")


@trap(11, "presses the same + button three times, then the second of two alike items",
      "<button id=p onclick='n.value = +n.value + 1'>+</button><output id=n>0</output>"
      "<ul><li class=x>a</li><li class=x id=second>b</li></ul>",
      ["click button#p", "click button#p", "click button#p", "click li#second"])
async def _(page):
    for _ in range(3):
        await click(page, "#p")
        await page.wait_for_timeout(600)
    await click(page, "#second")


@trap(12, "double-clicks", "<p id=p>word</p>", ["dblclick p#p"])
async def _(page):
    await click(page, "#p", click_count=2)


@trap(13, "composes with an input method", "<input id=i>", ["click input#i", "textInput input#i text='日本'"])
async def _(page):
    await click(page, "#i")
    session = await page.context.new_cdp_session(getattr(page, "page", page))
    for text in ("に", "にほ", "にほん"):
        await session.send("Input.imeSetComposition", {"text": text, "selectionStart": len(text),
                                                       "selectionEnd": len(text)})
    await session.send("Input.insertText", {"text": "日本"})


@trap(14, "types, deletes and pastes in a contenteditable",
      "<input id=src value='ZZ' autofocus onfocus='this.select()'><div id=d contenteditable style='height:40px'></div>",
      ["copy input#src text='ZZ'", "click div#d", "textInput div#d text='abZZ'"])
async def _(page):
    await page.keyboard.press("Control+c")
    await click(page, "#d")
    await page.keyboard.type("abc")
    await page.keyboard.press("Backspace")
    await page.keyboard.press("Control+v")


_SELECT = "<select id=s autofocus><option value=1>One<option value=2>Two<option value=3>Three</select>"


@trap(15, "chooses from a select by keyboard", _SELECT, ["change select#s value='3'"])
async def _(page):
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowDown")


@trap(15, "opens a select by mouse and chooses with the keys", _SELECT, ["change select#s value='2'"])
async def _(page):
    await click(page, "#s")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")


@trap(15, "chooses from a select whose page then goes elsewhere",
      _SELECT.replace("autofocus", "autofocus onchange='location = \"/two\"'"), ["change select#s value='2'"])
async def _(page):
    await page.keyboard.press("ArrowDown")
    await page.wait_for_url("**/two")
    await painted(page)


@trap(16, "types a date", "<input type=date id=d autofocus>", ["change input#d value='2024-03-12'"])
async def _(page):
    await page.keyboard.type("03122024")


@trap(16, "moves a range slider by keyboard and types a number",
      "<input type=range id=r min=0 max=10 value=5 autofocus><input type=number id=n>",
      ["change input#r value='7'", "textInput input#n text='42'"])
async def _(page):
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("Tab")
    await page.keyboard.type("42")


@trap(16, "drags a range slider", "<input type=range id=r min=0 max=100 value=0 style='width:300px'>",
      ["change input#r value='50'"])
async def _(page):
    box = await page.locator("#r").bounding_box()
    y = box["y"] + box["height"] / 2
    await page.mouse.move(box["x"] + 8, y)
    await page.mouse.down()
    await page.mouse.move(box["x"] + box["width"] / 2, y, steps=5)
    await page.mouse.up()


_BOXES = ("<div id=a {0} style='width:80px;height:80px;background:red'></div>"
          "<div id=b style='margin-top:60px;width:80px;height:80px;background:blue'"
          " ondragover='event.preventDefault()' ondrop='event.preventDefault()'></div>")


@trap(17, "drags and drops with HTML5", _BOXES.format("draggable=true"),
      ["drag div#a from={'x': 48.0, 'y': 48.0} to={'x': 48.0, 'y': 188.0}"])
async def _(page):
    await page.mouse.move(48, 48)
    await page.mouse.down()
    await page.mouse.move(48, 120, steps=5)
    await page.mouse.move(48, 188, steps=5)
    await page.mouse.up()


@trap(17, "drags by mouse moves", _BOXES.format(""),
      ["drag div#a from={'x': 48.0, 'y': 48.0} to={'x': 48.0, 'y': 188.0}"])
async def _(page):
    await page.mouse.move(48, 48)
    await page.mouse.down()
    await page.mouse.move(48, 188, steps=5)
    await page.mouse.up()


@trap(18, "uploads through a hidden input",
      "<input type=file id=f hidden><button id=b onclick='f.click()'>Choose</button>",
      ["upload input#f files=['notes.txt']"])
async def _(page):
    async with page.expect_file_chooser() as chooser:
        await click(page, "#b")
    with TemporaryDirectory() as folder:
        (file := Path(folder, "notes.txt")).write_text("x")
        await (await chooser.value).set_files(file)


@trap(19, "sweeps over many elements, then rests on a menu that opens",
      "<style>li{height:20px} #m ul{display:none} #m:hover ul{display:block}</style>"
      "<ul>" + "<li>item</li>" * 10 + "</ul><div id=m>Menu<ul><li>Inside</li></ul></div>", ["hover div#m"])
async def _(page):
    await page.mouse.move(60, 10)
    await page.mouse.move(60, 200, steps=30)
    box = await page.locator("#m").bounding_box()
    await page.mouse.move(box["x"] + 20, box["y"] + 8, steps=5)
    await page.wait_for_timeout(700)


@trap(20, "turns the wheel in a nested scroller",
      "<div id=s style='height:100px;overflow:auto'><div style='height:2000px'></div></div>"
      "<div style='height:3000px'></div>", ["scroll div#s x=0.0 y=300.0"])
async def _(page):
    await page.mouse.move(50, 50)
    for _ in range(6):
        await page.mouse.wheel(0, 50)
    await page.wait_for_function("document.querySelector('#s').scrollTop >= 300")
    await page.wait_for_timeout(200)


@trap(21, "clicks a button whose handler sets location at once",
      "<button id=b onclick='location = \"/two\"'>B</button>", ["click button#b"])
async def _(page):
    await click(page, "#b")
    await page.wait_for_url("**/two")


@trap(21, "presses on what navigates on pointerdown", "<div id=b onpointerdown='location = \"/two\"'>B</div>",
      ["click div#b"])
async def _(page):
    await click(page, "#b")
    await page.wait_for_url("**/two")


@trap(22, "clicks where the page stops all events on window first",
      "<script>for (const t of ['pointerdown', 'mousedown', 'click', 'keydown']) window.addEventListener(t, e => "
      "{e.stopImmediatePropagation(); e.preventDefault()}, true)</script><button id=b>B</button>", ["click button#b"])
async def _(page):
    await click(page, "#b")


@trap(23, "clicks after document.open() and write()",
      "<button id=b onclick=\"setTimeout(() => {document.open(); document.write('<button id=c>New</button>');"
      "document.close()})\">B</button>", ["click button#b", "click button#c"])
async def _(page):
    await click(page, "#b")
    await page.locator("#c").wait_for()
    await click(page, "#c")


@trap(23, "clicks after the whole body was swapped",
      "<button id=b onclick=\"const n = document.createElement('body'); n.innerHTML = '<button id=c>New</button>';"
      "document.body.replaceWith(n)\">B</button>", ["click button#b", "click button#c"])
async def _(page):
    await click(page, "#b")
    await page.locator("#c").wait_for()
    await click(page, "#c")


@trap(26, "goes to another page and back, then clicks", "<a id=a href='/two'>Two</a><button id=b>B</button>",
      ["click a#a", "back", "click button#b"])
async def _(page):
    await click(page, "#a")
    await page.wait_for_url("**/two")
    await painted(page)
    await page.go_back(wait_until="commit")
    await painted(page)
    await click(page, "#b")


@trap(25, "types an address, goes back, forward, reloads", "<p>one</p>",
      ["load url='two'", "back", "forward", "reload"])
async def _(page):
    await page.goto(page.url.rpartition("/")[0] + "/two")
    await page.go_back(wait_until="commit")
    await painted(page)
    await page.go_forward(wait_until="commit")
    await painted(page)
    await page.reload()


@trap(25, "clicks what calls pushState, then goes back",
      "<button id=b onclick=\"history.pushState({}, '', '/x')\">B</button>", ["click button#b", "back"])
async def _(page):
    await click(page, "#b")
    await page.go_back(wait_until="commit")


@trap(27, "opens a link in a new tab and acts there at once", "<a id=a href='/two' target=_blank>Two</a>",
      ["click a#a", "tabcreate tab=2", "tabswitch origin=1 target=2", "click h1"])
async def _(page):
    async with page.context.expect_page() as popup:
        await click(page, "#a")
    new = await popup.value
    await new.wait_for_load_state()
    await painted(new)
    await click(new, "h1")


@trap(29, "answers a confirm and a prompt",
      "<button id=b onclick=\"confirm('Sure?'); prompt('Name?')\">B</button>",
      ["click button#b", "dialog kind='confirm' message='Sure?' accepted=True",
       "dialog kind='prompt' message='Name?' accepted=True text='Ada'"],
      extension=["click button#b"], why="Chrome tells extensions nothing of dialogs")
async def _(page):
    async def answer(dialog):
        await dialog.accept("Ada" if dialog.type == "prompt" else "")
    page.on("dialog", answer)
    await click(page, "#b")


@trap(30, "clicks in a frame with border and padding, scrolled",
      "<div style='height:50px'></div><iframe srcdoc=\"<div style='height:500px'></div><button id=b>B</button>"
      "<div style='height:500px'></div>\" style='border:7px solid;padding:11px;width:300px;height:200px'></iframe>",
      ["click button#b"])
async def _(page):
    frame = page.frames[1]
    await frame.evaluate("window.scrollTo(0, 400)")
    await page.wait_for_timeout(100)
    await click_in(page, frame, "#b")


@trap(31, "clicks inside an open shadow root",
      "<div id=o></div><script>o.attachShadow({mode: 'open'}).innerHTML = '<button id=x>X</button>'</script>",
      ["click button#x"])
async def _(page):
    await click(page, "#x")


@trap(31, "clicks, types and ticks inside a closed shadow root",
      "<div id=c></div><script>window.shut = c.attachShadow({mode: 'closed'}); window.shut.innerHTML = "
      "'<button id=y>Y</button><input id=t><input type=checkbox id=k>'</script>",
      ["click button#y", "click input#t", "textInput input#t text='ab'", "change input#k checked=True"])
async def _(page):
    await closed_root_found(page, "#c")  # a person does not act before the page has come to rest

    async def press(selector):
        box = await page.evaluate("selector => { const {x, y} = window.shut.querySelector(selector)"
                                  ".getBoundingClientRect(); return {x, y} }", selector)
        await page.mouse.click(box["x"] + 5, box["y"] + 5)

    await press("#y")
    await press("#t")
    await page.keyboard.type("ab")
    await press("#k")
