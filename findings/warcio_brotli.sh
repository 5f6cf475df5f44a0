#!/bin/sh
# warcio 1.8.1 cannot read a record with `Content-Encoding: br` beside Brotli 1.2.1: `record.content_stream().read()` asks
# the decompressor for `unused_data`, which it has not. `record.raw_stream`, unpacked with `brotli.decompress`, has the
# content.
#
# Needs python3 with venv. Fails if the behaviour changes.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check warcio==1.8.1 brotli==1.2.1
cat >run.py <<'RUN'
import io
import brotli
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

body, file = brotli.compress(b"content " * 40), io.BytesIO()
writer = WARCWriter(file, gzip=False)
headers = StatusAndHeaders("200 OK", [("Content-Type", "text/plain"), ("Content-Encoding", "br")], protocol="HTTP/1.1")
writer.write_record(writer.create_warc_record("http://a.example/", "response", payload=io.BytesIO(body), http_headers=headers))
for raw in (False, True):
    file.seek(0)
    record = next(iter(ArchiveIterator(file)))
    try:
        content = brotli.decompress(record.raw_stream.read()) if raw else record.content_stream().read()
        print("raw" if raw else "content", len(content))
    except Exception as error:
        print("raw" if raw else "content", type(error).__name__, str(error)[:80])
RUN
env/bin/python run.py >seen
cat seen
[ "$(cat seen)" = "content AttributeError 'brotli.Decompressor' object has no attribute 'unused_data'
raw 320" ]
