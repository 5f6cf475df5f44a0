"""Performs the actions of a script by Selenium in a running browser: selenium_driver.py HOST:PORT SITE SCRIPT.json"""

import json
import shutil
import sys
from pathlib import Path

from selenium import webdriver
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.support import expected_conditions
from selenium.webdriver.support.select import Select
from selenium.webdriver.support.wait import WebDriverWait

PATIENCE_S = 10


def element(driver, action):
    """The element of an action, which may be in the shadow root."""
    if action["id"] == "inner":
        return driver.find_element(By.ID, "host").shadow_root.find_element(By.CSS_SELECTOR, "#inner")
    wait = WebDriverWait(driver, PATIENCE_S)
    return wait.until(expected_conditions.presence_of_element_located((By.ID, action["id"])))


def set_value(driver, action):
    """By script, as guides for Selenium recommend it for dates and ranges."""
    driver.execute_script("arguments[0].value = arguments[1]; for (const type of ['input', 'change'])"
                          "arguments[0].dispatchEvent(new Event(type, { bubbles: true }))",
                          element(driver, action), action["value"])


def fill(driver, action):
    field = element(driver, action)
    field.clear()
    if action["value"]:
        field.send_keys(action["value"])


def in_frame(driver, work):
    driver.switch_to.frame(driver.find_element(By.CSS_SELECTOR, "iframe"))
    work()
    driver.switch_to.default_content()


def answer_dialog(driver, action):
    element(driver, action).click()
    WebDriverWait(driver, PATIENCE_S).until(expected_conditions.alert_is_present()).accept()


def drag(driver, action):
    target = driver.find_element(By.ID, action["value"])
    ActionChains(driver).drag_and_drop(element(driver, action), target).perform()


DOES = {
    "fill": fill, "date": set_value, "range": set_value, "drag": drag, "dialog": answer_dialog,
    "select": lambda driver, action: Select(element(driver, action)).select_by_visible_text(action["value"]),
    "upload": lambda driver, action: element(driver, action).send_keys(action["value"]),
    "frame_fill": lambda driver, action: in_frame(driver, lambda: element(driver, action).send_keys(action["value"])),
    "frame_click": lambda driver, action: in_frame(driver, lambda: element(driver, action).click()),
    "press": lambda driver, action: element(driver, action).send_keys(getattr(Keys, action["value"].upper())),
    "back": lambda driver, action: driver.back(),
}


def main(address: str, site: str, script: str) -> None:
    options = webdriver.ChromeOptions()
    options.debugger_address = address.removeprefix("http://")
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    driver.get(site)
    for index, action in enumerate(json.loads(Path(script).read_text())):
        try:
            DOES.get(action["kind"], lambda driver, action: element(driver, action).click())(driver, action)
            print(json.dumps({"done": index}), flush=True)
        except Exception as error:  # the others are performed nevertheless
            print(json.dumps({"failed": index, "error": str(error)[:200]}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
