"""The objects below a directory, without following a link."""

import os
import stat
from pathlib import Path


def lstat(root, path):
    """The mode of an object below the root, None if it is missing, 0 behind something that is not
    a directory."""
    here = root
    for component in path.split("/"):
        here = here / component
        try:
            mode = here.lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return None
        if here != root / path and not stat.S_ISDIR(mode):
            return 0
    return mode


def walk(root, itself):
    for folder, directories, files in os.walk(root):
        links = [one for one in directories if (Path(folder) / one).is_symlink()]
        for name in files + links:
            path = Path(folder) / name
            if itself is None or not path.is_file() or not path.samefile(itself):
                yield path.relative_to(root).as_posix()
