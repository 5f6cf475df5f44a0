"""Records of WARCs as several programs write them."""

AT = "2024-05-01T10:00:00Z"
SITE = "https://shop.example"


def record(kind="response", url=f"{SITE}/", block: bytes | str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nit",
           at=AT, length=None, **more) -> bytes:
    """A record as it stands in a WARC."""
    block = block.encode() if isinstance(block, str) else block
    told = {"WARC-Type": kind, "WARC-Target-URI": url, "WARC-Date": at} | {
        name.replace("_", "-"): value for name, value in more.items()}
    told |= {"Content-Length": len(block) if length is None else length}
    lines = ["WARC/1.0", *(f"{name}: {value}" for name, value in told.items() if value is not None), "", ""]
    return "\r\n".join(lines).encode() + block + b"\r\n\r\n"


def asks(line="GET / HTTP/1.1", body="", **more) -> bytes:
    return record("request", block=f"{line}\r\nHost: shop.example\r\n\r\n{body}", **more)


def answers(content: bytes | str = "it", status="200 OK", headers="", **more) -> bytes:
    content = content.encode() if isinstance(content, str) else content
    return record(block=f"HTTP/1.1 {status}\r\n{headers}\r\n".encode() + content, **more)


def chunks(content: bytes, size=5) -> bytes:
    pieces = [content[at:at + size] for at in range(0, len(content), size)]
    return b"".join(b"%x;a=b\r\n%s\r\n" % (len(piece), piece) for piece in (*pieces, b""))


def again(**more) -> bytes:
    return record("revisit", block=more.pop("block", ""), at="2024-05-01T10:00:05Z", **more)


LEFT = answers(url=f"{SITE}/left")
