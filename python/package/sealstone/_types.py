"""Types of arguments, for annotations.

They are made when somebody asks for one: `import sealstone` does without `typing`, which takes
longer than all else.
"""

# As `typing` has it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable as Iterable

    from sealstone._annotations import Accepted as Accepted
    from sealstone._annotations import Buffer as Buffer
    from sealstone._annotations import Path as Path
    from sealstone._annotations import Profile as Profile
    from sealstone._annotations import Progress as Progress
    from sealstone._annotations import Readable as Readable
    from sealstone._annotations import Writable as Writable

else:

    def __getattr__(name: str) -> object:
        """The type of this name. Raises `AttributeError` if there is none."""
        import sealstone._annotations

        return getattr(sealstone._annotations, name)
