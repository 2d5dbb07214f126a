"""Refuses sub-interpreters, with words that say what to do."""


def refuse_others() -> None:
    """Raises `ImportError` unless this is the main interpreter.

    Progress functions and file objects are called from threads, which Python attaches to the main
    interpreter.
    """
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            interpreters = __import__(name)
        except ImportError:
            continue
        if interpreters.get_current() != interpreters.get_main():
            raise ImportError(
                "sealstone works in the main interpreter only: use threads or processes instead of "
                "sub-interpreters; with mod_wsgi, set WSGIApplicationGroup %{GLOBAL}"
            )
        return
