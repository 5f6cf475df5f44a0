"""Programs that read an export with a public loader, and with nothing of ours: they run where only that is installed.

Each is given the export's folder, and prints JSON: what it counted, by split, and how many pictures it decoded.
"""
