"""Values made by ``record`` behave as frozen dataclasses do."""

import dataclasses
from dataclasses import FrozenInstanceError, field

import pytest

from execkit_mcp.model.record import record, replace


@record
class Point:
    """A place on a plane."""

    x: int
    y: int = 0
    tags: list[str] = field(default_factory=list, compare=False, repr=False)

    @property
    def is_origin(self) -> bool:
        return self.x == self.y == 0


@record(kw_only=True)
class Named(Point):
    """A place with a name."""

    name: str


@record(eq=False)
class Marker:
    """Equal to itself alone."""

    id: int


def test_fields_are_taken_by_position_or_by_name_and_defaults_hold():
    assert (Point(1).x, Point(1).y) == (1, 0)
    assert Point(x=1, y=2).y == 2
    assert Point(0).is_origin
    assert Point(1).tags is not Point(1).tags


@pytest.mark.parametrize("wrong", [Point, lambda: Point(1, 2, [], 4), lambda: Point(1, z=3), lambda: Named(1)])
def test_a_wrong_construction_is_a_type_error(wrong):
    with pytest.raises(TypeError):
        wrong()


def test_a_value_cannot_be_changed():
    value = Point(1)
    for change in (lambda: setattr(value, "x", 2), lambda: setattr(value, "new", 2), lambda: delattr(value, "x")):
        with pytest.raises(FrozenInstanceError):
            change()
    assert value == Point(1)


def test_equal_values_are_equal_and_hash_alike_and_other_classes_are_not():
    assert Point(1, tags=["a"]) == Point(1, tags=["b"])
    assert hash(Point(1)) == hash(Point(1))
    assert Point(1) != Point(2)
    assert Point(1) != (1, 0, [])
    assert Marker(1) != Marker(1)


def test_fields_are_inherited_and_shown():
    named = Named(x=1, name="n")
    assert repr(named) == "Named(x=1, y=0, name='n')"
    assert replace(named, y=5) == Named(x=1, y=5, name="n")


def test_the_standard_functions_know_it():
    assert dataclasses.replace(Point(1), y=2) == Point(1, 2)
    assert [each.name for each in dataclasses.fields(Named(x=1, name="n"))] == ["x", "y", "tags", "name"]
    assert dataclasses.asdict(Point(1)) == {"x": 1, "y": 0, "tags": []}


def test_patterns_take_it_apart():
    match Point(3, 4):
        case Point(x, y):
            assert (x, y) == (3, 4)
