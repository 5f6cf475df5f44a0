"""Which demonstrations share a shard."""

from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.export.partition import Partition, order_key

LIMIT = 100
SIZES = st.dictionaries(st.text(min_size=1, max_size=12), st.integers(0, 2 * LIMIT), min_size=1, max_size=60)


def shards(sizes):
    """The partition of ids with these sizes: {shard's name: ids in it}."""
    partition, found = Partition(LIMIT), []
    for name in sorted(sizes, key=order_key):
        found += partition.add(order_key(name), sizes[name], name)
    found += partition.end()
    names = [shard.name for shard in found]
    assert len({*names}) == len(names)
    assert [one for shard in found for one in shard.items] == sorted(sizes, key=order_key)
    return {shard.name: shard.items for shard in found}


@given(SIZES)
def test_no_shard_is_too_large_unless_one_demonstration_is(sizes):
    for items in shards(sizes).values():
        assert len(items) == 1 or sum(sizes[one] for one in items) <= LIMIT


@settings(deadline=None)
@given(SIZES, st.text(min_size=1, max_size=12), st.integers(0, 2 * LIMIT))
def test_one_more_changes_one_shard_or_halves_it(sizes, name, size):
    before = shards({one: length for one, length in sizes.items() if one != name})
    after = shards(sizes | {name: size}) if len(sizes) > 1 or name not in sizes else None
    if after is None:
        return
    gone = {*before.items()} - {*after.items()}
    assert len(gone) <= 1
    new = {one for shard in {*after.items()} - {*before.items()} for one in shard[1]}
    assert new == {name, *(one for _, items in gone for one in items)}


def test_neighbours_that_share_many_bits_get_longer_names():
    """Hashes of ids are not known to be so near, but it costs nothing to be right."""
    partition = Partition(1)
    near = [1 << 255, (1 << 255) + 1, (1 << 255) + 2]
    found = [shard for at in near for shard in partition.add(at, 1, at)] + [*partition.end()]
    assert [shard.items for shard in found] == [(at,) for at in near]
    assert len({shard.name for shard in found}) == 3
