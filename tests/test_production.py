"""What docs/production.md says, done: its settings, gunicorn's command, and nginx or Caddy before it, over HTTPS."""

import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import urllib.request
from contextlib import suppress
from http.cookiejar import CookieJar
from pathlib import Path

import pytest

from curator_web.db.database import open_database
from curator_web.users import add_user, set_password
from tests.support.checkout import ROOT
from tests.support.waiting import wait_until

DOCUMENT = (ROOT / "docs" / "production.md").read_text()
PASSWORD = "correct horse battery"


def block(language: str) -> str:
    """The first code block of a language."""
    return re.search(rf"```{language}\n(.*?)```", DOCUMENT, re.S)[1]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_the_unit_is_whole():
    unit = block("ini")
    assert [line for line in unit.splitlines() if line.startswith("[")] == ["[Unit]", "[Service]", "[Install]"]
    assert "PASSWORD" not in unit and "DEMOTAPE_DB=" not in unit  # they stand in a file that only root reads
    limit, waits = (int(re.search(pattern, DOCUMENT)[1]) for pattern in (r"--timeout (\d+)",
                                                                         r"proxy_read_timeout (\d+)s"))
    assert waits > limit


def nginx(folder: Path, inner: int, outer: int) -> list:
    """The command that runs nginx as the block says."""
    server = block("nginx").replace("listen 443 ssl", f"listen 127.0.0.1:{outer} ssl").replace(
        "127.0.0.1:8000", f"127.0.0.1:{inner}").replace("server_name review.example.org;", (
            f"server_name localhost; ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;"))
    (folder / "nginx").mkdir()
    places = " ".join(f"{name}_temp_path {folder}/nginx/{name};" for name in (
        "client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "nginx.conf").write_text(f"daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;\n"
                                       f"{'user root;' if os.geteuid() == 0 else ''}\n"
                                       f"events {{}}\nhttp {{ access_log off; {places}\n{server} }}\n")
    return ["-p", folder, "-c", folder / "nginx.conf"]


def caddy(folder: Path, inner: int, outer: int) -> list:
    """The same with Caddy, with a certificate of the test's."""
    site = block("caddyfile").replace("127.0.0.1:8000", f"127.0.0.1:{inner}").replace(
        "review.example.org {", f"https://localhost:{outer} {{\n  tls {folder}/cert.pem {folder}/key.pem")
    (folder / "Caddyfile").write_text(f"{{\n  admin off\n  auto_https disable_redirects\n}}\n{site}")
    return ["run", "--config", folder / "Caddyfile", "--adapter", "caddyfile"]


@pytest.fixture(params=[nginx, caddy], ids=["nginx", "caddy"])
def proxied(request, tmp_path, postgresql):
    """gunicorn as the unit starts it, and a web server as its block says, on ports of the test's."""
    program = shutil.which(request.param.__name__)
    if None in (program, shutil.which("openssl")):
        pytest.skip(f"{request.param.__name__} or openssl is not installed (apt-get install nginx-light caddy openssl)")
    url, inner, outer = postgresql.new(), free_port(), free_port()
    db = open_database(url)
    add_user(db, "lea", "lead")
    set_password(db, "lea", PASSWORD)
    db.close()
    command = re.search(r"ExecStart=\S+/gunicorn (.*)", block("ini"))[1].replace("127.0.0.1:8000", f"127.0.0.1:{inner}")
    command = command.replace("--workers 4", "--workers 1").replace("'", "").split()
    settings = {"DEMOTAPE_DB": url, "DEMOTAPE_DATA": str(tmp_path / "data"), "DEMOTAPE_HTTPS": "1",
                "DEMOTAPE_HOSTS": "review.example.org,localhost", "DEMOTAPE_LOG": "json"}
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost", "-keyout", tmp_path / "key.pem", "-out",
                    tmp_path / "cert.pem"], check=True, capture_output=True)
    arguments = request.param(tmp_path, inner, outer)
    with (tmp_path / "log").open("wb") as log, (tmp_path / "web").open("wb") as web:
        app = subprocess.Popen([sys.executable, "-m", "gunicorn", *command], env=os.environ | settings, stderr=log)
        server = subprocess.Popen([program, *arguments], stderr=web, env=os.environ | {"HOME": str(tmp_path)})
    try:
        yield f"https://localhost:{outer}", tmp_path
    finally:
        for process in (server, app):
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def test_people_sign_in_through_a_web_server_on_any_port(proxied):
    address, folder = proxied
    trust = ssl.create_default_context(cafile=folder / "cert.pem")
    browser = urllib.request.build_opener(urllib.request.HTTPSHandler(context=trust),
                                          urllib.request.HTTPCookieProcessor(CookieJar()))
    page = until_there(browser, f"{address}/sign-in")
    token = re.search(r'name="csrf_token" value="([^"]+)"', page)[1]
    form = f"csrf_token={token}&name=lea&password={PASSWORD.replace(' ', '+')}".encode()
    asked = urllib.request.Request(f"{address}/sign-in", form, {"Referer": f"{address}/sign-in"})
    with browser.open(asked) as answer:
        assert "No demonstrations yet" in answer.read().decode() and answer.url == f"{address}/"
        assert len(answer.headers["X-Request-ID"].replace("-", "")) == 32  # the web server gave it
    assert browser.open(f"{address}/readyz").status == 200
    assert '"route": "/sign-in"' in (folder / "log").read_text() and PASSWORD.split()[0] not in (
        folder / "log").read_text()


def until_there(browser: urllib.request.OpenerDirector, address: str) -> str:
    """A page, once both serve."""
    def page() -> str:
        with suppress(OSError), browser.open(address) as answer:
            return answer.read().decode()
        return ""
    return wait_until(page, what="a server's answer")
