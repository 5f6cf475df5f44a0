"""WARC and WACZ files, read and written with the extra `wacz`."""
