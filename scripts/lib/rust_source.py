"""Just enough of a Rust reader for the gates: tokens, functions, paths.

The gates must not be fooled by the word `unsafe` in a comment or a brace in a
string, and must run on a bare machine, so this reads tokens itself with the
Python standard library and nothing else.
"""

import re
from collections import namedtuple
from pathlib import Path

Token = namedtuple("Token", "kind text line")
Function = namedtuple("Function", "name line length")
# A path as written (`segments`), inside the inline modules `scope` of its file.
PathUse = namedtuple("PathUse", "segments line scope")


def rust_files(directory, skip=()):
    """Every .rs file under `directory`, sorted, outside build output and `skip`."""
    skipped = {Path(p).resolve() for p in skip}
    for path in sorted(Path(directory).rglob("*.rs")):
        parents = [p.resolve() for p in path.parents]
        if not skipped.intersection(parents) and not is_build_output(path, directory):
            yield path


def is_build_output(path, directory):
    """Cargo marks its target directories with CACHEDIR.TAG."""
    inside = [p for p in path.parents if p != Path(directory) and Path(directory) in p.parents]
    return any((p / "CACHEDIR.TAG").exists() for p in inside)


def tokens(text):
    """The tokens of a Rust source, without comments and white space.

    Kinds: `ident`, `str` (any string or character literal), `lifetime`,
    `number`, `op`. `::` is one token, every other operator one character each.
    """
    found, position, line = [], 0, 1
    while position < len(text):
        match = TOKEN.match(text, position)
        kind, end = match.lastgroup, match.end()
        if kind == "block_comment":
            end = end_of_block_comment(text, position)
        elif kind == "raw_string":
            end = end_of_raw_string(text, match)
        if kind not in ("space", "line_comment", "block_comment"):
            name = "str" if kind in ("raw_string", "char") else kind
            found.append(Token(name, text[position:end], line))
        line += text.count("\n", position, end)
        position = end
    return found


TOKEN = re.compile(
    r"""
      (?P<space>\s+)
    | (?P<line_comment>//[^\n]*)
    | (?P<block_comment>/\*)
    | (?P<raw_string>[bc]?r(?=\#*")\#*")
    | (?P<str>[bc]?"(?:[^"\\]|\\.)*")
    | (?P<char>b?'(?:\\.[^']*|[^\\'\n])')
    | (?P<lifetime>'\w+)
    | (?P<ident>(?:r\#)?[^\W\d]\w*)
    | (?P<number>\d\w*(?:\.\d\w*)?)
    | (?P<op>::|.)
    """,
    re.VERBOSE | re.DOTALL,
)


def end_of_block_comment(text, start):
    """Block comments nest in Rust."""
    depth = 0
    for match in re.compile(r"/\*|\*/").finditer(text, start):
        depth += 1 if match.group() == "/*" else -1
        if depth == 0:
            return match.end()
    return len(text)


def end_of_raw_string(text, opening):
    closing = '"' + "#" * opening.group().count("#")
    end = text.find(closing, opening.end())
    return len(text) if end < 0 else end + len(closing)


def functions(toks):
    """Every function with a body, its length counted from `fn` to its closing brace."""
    found = []
    for i, token in enumerate(toks[:-1]):
        if token.text == "fn" and token.kind == "ident" and toks[i + 1].kind == "ident":
            body = body_start(toks, i + 2)
            if body is not None:
                last = toks[closing(toks, body)].line
                found.append(Function(toks[i + 1].text, token.line, last - token.line + 1))
    return found


def body_start(toks, i):
    """The opening brace of a function's body; None if it ends with `;`."""
    while i < len(toks):
        if toks[i].text in ("(", "["):
            i = closing(toks, i)
        elif toks[i].text == ";":
            return None
        elif toks[i].text == "{":
            return i
        i += 1
    return None


def closing(toks, opening):
    """The index of the bracket that closes the one at `opening`."""
    opener = toks[opening].text
    closer = {"(": ")", "[": "]", "{": "}"}[opener]
    depth = 0
    for i in range(opening, len(toks)):
        if toks[i].kind == "op":
            depth += (toks[i].text == opener) - (toks[i].text == closer)
            if depth == 0:
                return i
    return len(toks) - 1


def paths(toks):
    """Every path of two or more segments, and every leaf of every `use` tree."""
    found, scope, depth, i = [], [], 0, 0
    while i < len(toks):
        names = tuple(name for name, _ in scope)
        text = toks[i].text
        if is_inline_module(toks, i):
            scope.append((toks[i + 1].text, depth))
            depth += 1
            i += 3
        elif text == "use" and toks[i].kind == "ident" and toks[i + 1].text != "<":
            leaves, i = use_tree(toks, i + 1, ())
            found += [PathUse(segments, line, names) for segments, line in leaves]
        elif starts_path(toks, i):
            segments, after = path_segments(toks, i)
            found.append(PathUse(segments, toks[i].line, names))
            i = after
        else:
            depth += (text == "{") - (text == "}")
            if scope and text == "}" and depth == scope[-1][1]:
                scope.pop()
            i += 1
    return found


def is_inline_module(toks, i):
    return (
        toks[i].text == "mod"
        and i + 2 < len(toks)
        and toks[i + 1].kind == "ident"
        and toks[i + 2].text == "{"
    )


def use_tree(toks, i, prefix):
    """The leaves of the `use` tree at `i` as (segments, line), and where it ends."""
    segments, line = list(prefix), toks[i].line
    while i < len(toks):
        text = toks[i].text
        if text == "{":
            return use_group(toks, i, tuple(segments))
        if text in (",", ";", "}"):
            return [(tuple(segments), line)], i
        if text == "as":
            i += 1
        elif text != "::":
            segments.append(text)
            line = toks[i].line
        i += 1
    return [(tuple(segments), line)], i


def use_group(toks, i, prefix):
    leaves, i = [], i + 1
    while i < len(toks) and toks[i].text not in ("}", ";"):
        if toks[i].text == ",":
            i += 1
        else:
            inner, i = use_tree(toks, i, prefix)
            leaves += inner
    return leaves, i + 1


def starts_path(toks, i):
    """Whether a path of two or more segments starts here (`pub(in a::b)` is no use of it)."""
    if toks[i].kind != "ident" or i + 1 >= len(toks) or toks[i + 1].text != "::":
        return False
    before = toks[i - 1].text if i else ""
    if before == "in" and i >= 2 and toks[i - 2].text == "(":
        return False
    if before == "::":
        return i < 2 or not (toks[i - 2].kind == "ident" or toks[i - 2].text == ">")
    return before != "."


def path_segments(toks, i):
    segments = [toks[i].text]
    i += 1
    while i + 1 < len(toks) and toks[i].text == "::" and toks[i + 1].kind == "ident":
        segments.append(toks[i + 1].text)
        i += 2
    return tuple(segments), i
