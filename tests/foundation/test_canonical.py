"""Canonical bytes: equal values, equal bytes; damage is noticed."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata import canonical
from strata.errors import CorruptStateError

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(values)
def test_json_round_trips(value: object) -> None:
    assert json.loads(canonical.dumps(value)) == value


@given(st.dictionaries(st.text(), st.integers()))
def test_the_order_of_keys_does_not_matter(value: dict[str, int]) -> None:
    assert canonical.dumps(value) == canonical.dumps(dict(reversed(value.items())))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_missing_number_cannot_hide_as_nan(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical.dumps({"x": value})


@given(values, st.lists(st.floats(width=32, allow_nan=False), max_size=6))
def test_packed_state_round_trips(document: object, numbers: list[float]) -> None:
    arrays = {"a": np.array(numbers, dtype=np.float32), "b": np.arange(6).reshape(2, 3)}
    blob = canonical.pack(document, arrays)
    found, back = canonical.unpack(blob, source="test")
    assert found == document
    assert {name: (array.dtype, array.tolist()) for name, array in back.items()} == {
        name: (array.dtype, array.tolist()) for name, array in arrays.items()
    }
    assert canonical.pack(found, back) == blob


@given(st.data())
def test_a_flipped_bit_anywhere_is_noticed(data: st.DataObject) -> None:
    blob = canonical.pack({"x": [1, 2]}, {"v": np.ones(3, dtype=np.float32)})
    at = data.draw(st.integers(0, len(blob) * 8 - 1))
    damaged = bytearray(blob)
    damaged[at // 8] ^= 1 << (at % 8)
    with pytest.raises(CorruptStateError, match="memory/delta-3"):
        canonical.unpack(bytes(damaged), source="memory/delta-3")


@given(st.integers(0, 200))
def test_a_cut_file_is_noticed(length: int) -> None:
    blob = canonical.pack({"x": "y" * 50}, {"v": np.ones(30, dtype=np.float32)})
    with pytest.raises(CorruptStateError):
        canonical.unpack(blob[:length], source="cut")
