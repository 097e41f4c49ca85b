"""Frozen values: this module is the decorator that makes classes of them, as a frozen dataclass with slots would be.

Why not the standard one: each such class costs six compilations when it is imported, and a hundred classes a quarter
of the time that ``policy check`` may take; and a field is set by name through ``object.__setattr__``. Here a class
costs one compilation, and a field is set through its slot.

The declaration reads the same, ``field`` is the standard one (``default``, ``default_factory``, ``compare``,
``repr``), and type checkers see a frozen dataclass. Equal values of one class are equal and hash alike.
"""

from collections.abc import Callable
from dataclasses import _FIELD, MISSING, Field, FrozenInstanceError, field  # type: ignore[attr-defined]
from operator import attrgetter
from typing import TypeVar, dataclass_transform, overload

T = TypeVar("T")

_FIELDS = "__dataclass_fields__"  # so that the standard ``replace`` and ``fields`` know these classes too


@overload
def record(cls: type[T], /) -> type[T]: ...
@overload
def record(*, kw_only: bool = False, eq: bool = True) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(
    cls: type[T] | None = None, /, *, kw_only: bool = False, eq: bool = True
) -> type[T] | Callable[[type[T]], type[T]]:
    """A class of frozen values with slots.

    Args:
        cls: the declaration.
        kw_only: whether fields are given by name only.
        eq: whether values with equal fields are equal; else each is equal to itself alone.
    """
    if cls is None:
        return lambda declared: _make(declared, kw_only=kw_only, eq=eq)
    return _make(cls, kw_only=kw_only, eq=eq)


def replace(value: T, /, **changes: object) -> T:
    """The value with some fields changed."""
    kept = {name: getattr(value, name) for name in getattr(type(value), _FIELDS) if name not in changes}
    return type(value)(**kept, **changes)


def _make(cls: type[T], *, kw_only: bool, eq: bool) -> type[T]:
    fields: dict[str, Field[object]] = dict(getattr(cls, _FIELDS, {}))
    own = [name for name in vars(cls).get("__annotations__", {}) if name not in fields]
    namespace = {name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__")}
    for name in own:
        default = namespace.pop(name, MISSING)
        each: Field[object] = default if isinstance(default, Field) else field(default=default)
        fields[name] = each
        each.name = name
        object.__setattr__(each, "_field_type", _FIELD)
    generated: dict[str, object] = {
        "__slots__": tuple(own),
        _FIELDS: fields,
        "__setattr__": _refuse,
        "__delattr__": _refuse,
        "__repr__": _shown,
        "__match_args__": () if kw_only else tuple(fields),
    }
    if eq:
        compared = tuple(name for name, each in fields.items() if each.compare)
        generated |= {"__eq__": _equal_of(compared), "__hash__": _hash_of(compared)}
    kind: Callable[..., type[T]] = type(cls)
    made = kind(cls.__name__, cls.__bases__, generated | namespace)
    made.__init__ = _init_of(fields, made, kw_only=kw_only)  # type: ignore[method-assign]
    return made


def _init_of(fields: dict[str, Field[object]], made: type[T], *, kw_only: bool) -> Callable[..., None]:
    """``__init__`` with the fields as parameters."""
    known: dict[str, object] = {"_absent": MISSING}
    parameters = ["self", "*"] if kw_only and fields else ["self"]
    body: list[str] = []
    for name, each in fields.items():
        known[f"_set_{name}"] = getattr(made, name).__set__
        given = name
        if each.default is not MISSING:
            known[f"_default_{name}"] = each.default
            parameters.append(f"{name}=_default_{name}")
        elif each.default_factory is not MISSING:
            known[f"_make_{name}"] = each.default_factory
            parameters.append(f"{name}=_absent")
            given = f"_make_{name}() if {name} is _absent else {name}"
        else:
            parameters.append(name)
        body.append(f"_set_{name}(self, {given})")
    text = f"def __init__({', '.join(parameters)}):\n " + "\n ".join(body or ["pass"])
    exec(text, known)  # noqa: S102 - the text is made of the field names of a class of ours, nothing else
    return known["__init__"]  # type: ignore[return-value]


def _refuse(self: object, name: str, value: object = None) -> None:  # noqa: ARG001 - the signature of __setattr__
    message = f"{type(self).__name__}.{name} cannot be assigned to: the value is frozen"
    raise FrozenInstanceError(message)


def _equal_of(names: tuple[str, ...]) -> Callable[[object, object], bool]:
    fields_of: Callable[[object], object] = attrgetter(*names) if names else (lambda _: ())

    def equal(self: object, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other):
            return False
        return bool(fields_of(self) == fields_of(other))

    return equal


def _hash_of(names: tuple[str, ...]) -> Callable[[object], int]:
    def hashed(self: object) -> int:
        return hash(tuple([getattr(self, name) for name in names]))

    return hashed


def _shown(self: object) -> str:
    fields: dict[str, Field[object]] = getattr(type(self), _FIELDS)
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name, each in fields.items() if each.repr)
    return f"{type(self).__qualname__}({shown})"
