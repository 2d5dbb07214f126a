"""Which paths a package may hold: spec/package.md, "Encoding"."""

import unicodedata

from wire import need, text


def check_path(path):
    text(path, 1, 4096)
    need("\\" not in path, "backslash in a path")
    for component in path.split("/"):
        need(1 <= len(component.encode()) <= 255 and component not in (".", ".."), "component of a path")


def check_paths(paths):
    raw = [path.encode() for path in paths]
    need(all(a < b for a, b in zip(raw, raw[1:])), "order of the entries")
    folded = {fold(path) for path in paths}
    need(len(folded) == len(paths), "paths that clash")
    directories = {}
    for path in paths:
        for at in (i for i, character in enumerate(path) if character == "/"):
            directory = path[:at]
            need(directories.setdefault(fold(directory), directory) == directory, "directories that clash")
    need(not folded & set(directories), "a path that clashes with a directory")


def fold(path):
    path = unicodedata.normalize("NFC", path)
    for case in (str.lower, str.upper, str.lower):
        path = "".join(case(c) for c in path)
    return unicodedata.normalize("NFC", path)
