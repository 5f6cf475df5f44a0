"""A program that records clicks in a page until it is killed."""

import textwrap

RECORD_FOREVER = textwrap.dedent("""
    import asyncio, sys, time
    from playwright.async_api import async_playwright
    from recorder import Recorder
    from recorder.browser import launch

    async def main(url, directory, pause="0"):
        async with async_playwright() as playwright:
            browser = await launch(playwright, headless=True)
            context = await browser.new_context()
            page = await context.new_page()
            async with Recorder(context, directory):
                await page.goto(url)
                while True:
                    await page.mouse.click(100, 100)
                    print(time.time(), flush=True)
                    await asyncio.sleep(float(pause))

    asyncio.run(main(*sys.argv[1:]))
""")
"""`python -c RECORD_FOREVER URL FOLDER [SECONDS]`: clicks at (100, 100), prints the time after each, and pauses."""
