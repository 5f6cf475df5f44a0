"""More rows of the table of traps: what belongs to which gesture, text that comes without `input`, late effects."""

from pathlib import Path
from tempfile import TemporaryDirectory

from .traps import click, flush_capture, middle_of, trap

FIELDS = "<input id=a><input id=b><textarea id=c></textarea>"


@trap(67, "is a driver that fills three fields one after the other", FIELDS,
      ["textInput input#a text='Ann'", "textInput input#b text='Lee'", "textInput textarea#c text='Rome'"])
async def _(page):
    for selector, text in (("#a", "Ann"), ("#b", "Lee"), ("#c", "Rome")):
        await page.locator(selector).fill(text)


@trap(67, "types, then a driver fills another field", FIELDS,
      ["textInput input#a text='Ann'", "textInput input#b text='Lee'", "textInput input#a text=''"])
async def _(page):
    await page.locator("#a").press_sequentially("Ann")
    await page.locator("#b").fill("Lee")
    await page.locator("#a").fill("")


@trap(68, "ticks a box, then a driver gives files to a field", "<input type=checkbox id=k><input type=file id=f>",
      ["change input#k checked=True", "upload input#f files=['notes.txt']"])
async def _(page):
    await click(page, "#k")
    with TemporaryDirectory() as folder:
        (file := Path(folder, "notes.txt")).write_text("x")
        await page.locator("#f").set_input_files(file)


async def drop_file(page, selector: str) -> None:
    """Drop a file from outside the browser."""
    x, y = await middle_of(page, selector)
    outer = getattr(page, "page", page)
    session = await outer.context.new_cdp_session(outer)
    with TemporaryDirectory() as folder:
        (file := Path(folder, "notes.txt")).write_text("x")
        data = {"items": [], "files": [str(file)], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            await session.send("Input.dispatchDragEvent", {"type": kind, "x": x, "y": y, "data": data})
        await page.wait_for_function("document.body.dataset.dropped")
    await session.detach()


@trap(69, "presses a button, then drops a file from the desktop",
      "<button id=b>Start</button><div id=z style='width:200px;height:90px'>Here</div><script>"
      "z.ondragover = event => event.preventDefault(); z.ondrop = event => { event.preventDefault();"
      "document.body.dataset.dropped = event.dataTransfer.files[0].name }</script>",
      ["click button#b", "upload div#z files=['notes.txt']"])
async def _(page):
    await click(page, "#b")
    await drop_file(page, "#z")


@trap(69, "drops a file on a file field after a press elsewhere",
      "<button id=b>Start</button><input type=file id=f onchange='document.body.dataset.dropped = 1'>",
      ["click button#b", "upload input#f files=['notes.txt']"])
async def _(page):
    await click(page, "#b")
    await drop_file(page, "#f")


@trap(70, "turns the wheel over what zooms by it",
      "<div id=m style='width:300px;height:200px'>1</div><script>m.addEventListener('wheel', event => {"
      "event.preventDefault(); m.textContent = +m.textContent + 1 }, { passive: false })</script>",
      ["scroll div#m x=0.0 y=0.0 delta={'x': 0.0, 'y': -240.0}"])
async def _(page):
    await page.mouse.move(*await middle_of(page, "#m"))
    for times in range(2):
        await page.mouse.wheel(0, -120)
        await page.wait_for_function(f"+document.querySelector('#m').textContent > {times + 1}")
    await flush_capture(page)


@trap(70, "turns the wheel, then a driver scrolls on", "<p id=p>Top</p><div style='height:5000px'></div>",
      ["scroll html x=0.0 y=300.0"])
async def _(page):
    await page.mouse.move(*await middle_of(page, "#p"))
    await page.mouse.wheel(0, 300)
    await page.wait_for_function("scrollY >= 300")
    await page.evaluate("new Promise(done => { addEventListener('scrollend', done, { once: true });"
                        "setTimeout(scrollTo, 0, 0, 1900) })")


@trap(71, "reorders a list by dragging; nothing takes a drop",
      "<style>body, ul { margin: 0; padding: 0 }</style><ul id=u><li draggable=true id=a style='height:40px'>a"
      "<li id=c style='height:40px'>c</ul><script>let dragged; u.ondragstart = event => dragged = event.target;"
      "u.ondragenter = event => { if (event.target.id === 'c') event.target.after(dragged) }</script>",
      ["drag li#a from={'x': 50.0, 'y': 20.0} to={'x': 50.0, 'y': 70.0}"])
async def _(page):
    await page.mouse.move(50, 20)
    await page.mouse.down()
    await page.mouse.move(50, 35, steps=3)
    await page.mouse.move(50, 70, steps=5)
    await page.mouse.up()


EDIT_CONTEXT = """<div id=e tabindex=0 style="width:300px;height:20px"></div><script>const context = new EditContext();
e.editContext = context; context.addEventListener('textupdate', () => e.textContent = context.text)</script>"""


@trap(72, "types into an editor with an EditContext", EDIT_CONTEXT, ["click div#e", "textInput div#e text='Hello=愛'"])
async def _(page):
    await click(page, "#e")
    await page.keyboard.type("Hellx")
    await page.keyboard.press("Backspace")
    await page.keyboard.type("o")
    await page.keyboard.insert_text("=愛")


TAKES_OVER = """<div id=e contenteditable style="width:300px;min-height:20px"></div><script>
e.addEventListener('beforeinput', event => { if (FIRST && e.textContent) return; event.preventDefault();
e.textContent += event.data; getSelection().selectAllChildren(e); getSelection().collapseToEnd() })</script>"""


@trap(73, "types into an editor that puts the first letter in itself", TAKES_OVER.replace("FIRST", "true"),
      ["click div#e", "textInput div#e text='Hello'"])
@trap(73, "types into an editor that puts every letter in itself", TAKES_OVER.replace("FIRST", "false"),
      ["click div#e", "textInput div#e text='Hello'"])
async def _(page):
    await click(page, "#e")
    await page.keyboard.type("Hello")
    await page.wait_for_function("document.querySelector('#e').textContent === 'Hello'")
    await flush_capture(page)


@trap(74, "types in a field that the page empties on a comma that it takes",
      "<input id=a><p id=p></p><script>a.addEventListener('keypress', event => { if (event.key !== ',') return;"
      "event.preventDefault(); p.textContent += a.value + ';'; a.value = '' })</script>",
      ["click input#a", "textInput input#a text='red'", "press input#a key=','", "textInput input#a text='blue'",
       "press input#a key=','"])
async def _(page):
    await click(page, "#a")
    await page.keyboard.type("red,")
    await page.wait_for_function("document.querySelector('#p').textContent === 'red;'")
    await page.keyboard.type("blue,")
    await page.wait_for_function("document.querySelector('#p').textContent === 'red;blue;'")


@trap(74, "waits while the page edits by a command, then types",
      "<div id=e contenteditable>a</div><script>onmessage = ({ data }) => { if (data !== 'edit') return; e.focus();"
      "document.execCommand('insertText', false, '-') }</script>", ["textInput div#e text='-xa'"])
async def _(page):
    await page.evaluate("postMessage('edit', '*')")
    await page.wait_for_function("document.querySelector('#e').textContent === '-a'")
    await page.keyboard.type("x")
    await flush_capture(page)


@trap(74, "types in a field that the page empties at each comma",
      "<input id=t oninput='if (value.endsWith(\",\")) { p.append(value); value = \"\" }'><p id=p></p>",
      ["click input#t", "textInput input#t text='red,'", "textInput input#t text='blue,'",
       "textInput input#t text='x'"])
async def _(page):
    await click(page, "#t")
    await page.keyboard.type("red,blue,x")


@trap(74, "types in a field that the page puts in another form",
      "<input id=t oninput='value = value.replace(/[^0-9]/g, \"\").replace(/(..)(?=.)/g, \"$1-\")'>",
      ["click input#t", "textInput input#t text='12-34-5'"])
async def _(page):
    await click(page, "#t")
    await page.keyboard.type("12345")


@trap(79, "presses Tab in a field and in an editor that takes it",
      "<input id=a><textarea id=b></textarea><input id=c><script>b.onkeydown = event => { if (event.key === 'Tab') {"
      "event.preventDefault(); document.title = 'taken' } }</script>",
      ["textInput input#a text='x'", "textInput textarea#b text='y'", "press textarea#b key='Tab'",
       "textInput textarea#b text='yz'"])
async def _(page):
    await page.evaluate("document.querySelector('#a').focus()")
    await page.keyboard.type("x")
    await page.keyboard.press("Tab")
    await page.keyboard.type("y")
    await page.keyboard.press("Tab")
    await page.wait_for_function("document.title === 'taken'")
    await page.keyboard.type("z")


@trap(79, "presses the text of a component in a slot, and one in an element without a box",
      "<x-button id=x>Send</x-button><p><button id=b><span style='display:contents'>Go</span></button></p><script>"
      "customElements.define('x-button', class extends HTMLElement { constructor() { super();"
      "this.attachShadow({ mode: 'open' }).innerHTML = '<button id=inner><slot></slot></button>' } })</script>",
      ["click button#inner", "click button#b"])
async def _(page):
    await click(page, "#x")
    await click(page, "#b")


@trap(75, "chooses two of a list, one with Control",
      "<select id=s multiple size=4><option id=a value=1>A<option value=2>B<option id=c value=3>C</select>",
      ["change select#s value='1' chosen_values=['1', '3']"])
async def _(page):
    await click(page, "#a")
    await page.keyboard.down("Control")
    await click(page, "#c")
    await page.keyboard.up("Control")


@trap(76, "chooses by keys from a list that the page styles",
      "<style>select, ::picker(select) { appearance: base-select }</style><select id=s autofocus><button>"
      "<selectedcontent></selectedcontent></button><option value=a>A<option value=b>B<option value=c>C</select>",
      ["change select#s value='c'"])
async def _(page):
    await page.keyboard.press("Enter")
    await page.wait_for_function("document.querySelector('select:open')")
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        await page.keyboard.press(key)
    await page.wait_for_function("document.querySelector('select').value === 'c'")


MENU = "<button id=b>Menu</button><div id=h hidden><button id=i>Inside</button></div><script>"


@trap(77, "rests on a menu that opens late, then clicks in it",
      MENU + "b.onpointerenter = () => setTimeout(() => h.hidden = false, 800)</script>",
      ["hover button#b", "click button#i"])
async def _(page):
    x, y = await middle_of(page, "#b")
    await page.mouse.move(x + 300, y + 300)
    await page.mouse.move(x, y, steps=4)
    await page.locator("#i").wait_for()
    await page.mouse.move(*await middle_of(page, "#i"), steps=4)
    await click(page, "#i")


@trap(77, "rests somewhere while the page changes far away",
      "<button id=b>Rest</button><p id=p style='margin-top:300px'></p><script>"
      "b.onpointerenter = () => setTimeout(() => p.innerHTML = '<b>News</b>', 800)</script>", [])
async def _(page):
    x, y = await middle_of(page, "#b")
    await page.mouse.move(x + 300, y + 100)
    await page.mouse.move(x, y, steps=4)
    await page.locator("#p b").wait_for()
    await flush_capture(page)


@trap(78, "types a code whose last letter has the page send it",
      "<form id=f onsubmit='event.preventDefault()'>"
      "<input id=t oninput='value.length === 3 && f.requestSubmit()'></form>",
      ["click input#t", "textInput input#t text='123'"])
async def _(page):
    await click(page, "#t")
    await page.keyboard.type("123")
