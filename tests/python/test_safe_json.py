import asyncio
import collections
import dataclasses
import datetime
import decimal
import enum
import json
import pathlib
import time
import unittest
import uuid

from cellar_runtime import safe_json

try:
    import numpy
except ImportError:
    numpy = None


def dumped(value):
    """The text of the encoding, checked with a parser that refuses what strict JSON refuses."""

    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    text = safe_json.dumps(value).decode("utf-8")
    json.loads(text, parse_constant=refuse)
    return text


class OrdinaryValues(unittest.TestCase):
    def test_no_key_stands_twice(self):
        self.assertEqual(safe_json.dumps({1: "one", "1": "text"}), b'{"1":"text"}')

    def test_plain_values_are_written_compactly(self):
        value = {"a": [1, 2.5, True, None, "é"], "b": {}}
        self.assertEqual(dumped(value), '{"a":[1,2.5,true,null,"é"],"b":{}}')

    def test_keys_become_strings_alike_on_both_paths(self):
        plain = {1: 0, True: 0, None: 0, 2.5: 0}
        expected = '{"1":0,"null":0,"2.5":0'
        self.assertEqual(dumped(plain), expected + "}")
        self.assertEqual(dumped({**plain, (1, 2): 0}), expected + ',"(1, 2)":0}')
        self.assertEqual(dumped({float("nan"): 1, True: 2}), '{"NaN":1,"true":2}')

    def test_a_class_that_cannot_be_hashed_is_written_like_any_other(self):
        class Meta(type):
            __hash__ = None

        class Own(list, metaclass=Meta):
            pass

        self.assertEqual(dumped([Own([1, 2]), Own()]), "[[1,2],[]]")

    def test_containers(self):
        Point = collections.namedtuple("Point", "x y")
        self.assertEqual(dumped((1, (2,))), "[1,[2]]")
        self.assertEqual(dumped({5}), "[5]")
        self.assertEqual(dumped(frozenset("a")), '["a"]')
        self.assertEqual(dumped(Point(1, 2)), "[1,2]")
        self.assertEqual(dumped(range(3)), "[0,1,2]")
        self.assertEqual(dumped(collections.deque([1])), "[1]")
        self.assertEqual(dumped(collections.ChainMap({"a": 1})), '{"a":1}')
        self.assertEqual(dumped(collections.OrderedDict(a=1)), '{"a":1}')

    def test_standard_library_values(self):
        class Color(enum.Enum):
            RED = "red"

        class Level(enum.IntEnum):
            HIGH = 3

        zero = uuid.UUID(int=0)
        self.assertEqual(dumped([decimal.Decimal("1.10")]), '["1.10"]')
        self.assertEqual(dumped(datetime.datetime(2024, 1, 2, 3, 4)), '"2024-01-02T03:04:00"')
        self.assertEqual(dumped(datetime.date(2024, 1, 2)), '"2024-01-02"')
        self.assertEqual(dumped(datetime.timedelta(seconds=90)), '"0:01:30"')
        self.assertEqual(dumped([Color.RED, Level.HIGH]), '["red",3]')
        self.assertEqual(dumped(pathlib.Path("/a/b")), '"/a/b"')
        self.assertEqual(dumped(zero), f'"{zero}"')

    def test_dataclasses_become_objects(self):
        @dataclasses.dataclass
        class Item:
            name: str
            tags: list

        self.assertEqual(dumped([Item("x", [1])]), '[{"name":"x","tags":[1]}]')

    def test_bytes_become_base64(self):
        value = [b"\x00\xff", bytearray(b"a"), memoryview(b"a")]
        self.assertEqual(dumped(value), '["AP8=","YQ==","YQ=="]')

    @unittest.skipIf(numpy is None, "numpy is not installed")
    def test_numpy(self):
        self.assertEqual(dumped(numpy.int64(3)), "3")
        self.assertEqual(dumped([numpy.float32(0.5), numpy.bool_(True)]), "[0.5,true]")
        self.assertEqual(dumped(numpy.float64("nan")), '"NaN"')
        self.assertEqual(dumped(numpy.longdouble(1)), '"1.0"')
        self.assertEqual(dumped(numpy.array([[1, 2], [3, 4]])), "[[1,2],[3,4]]")
        self.assertEqual(dumped(numpy.array([1.0, numpy.inf])), '[1.0,"Infinity"]')
        day = numpy.datetime64("2024-01-02T00:00:00.000000000")
        self.assertEqual(dumped(day), '"2024-01-02T00:00:00.000000000"')
        self.assertEqual(dumped(numpy.array([day])), '["2024-01-02T00:00:00.000000000"]')
        self.assertEqual(json.loads(dumped(numpy.zeros(2_000_000))), repr(numpy.zeros(2_000_000)))


class ValuesThatBreakFrames(unittest.TestCase):
    def test_nan_and_infinities_are_names(self):
        value = [float("nan"), float("inf"), float("-inf"), 1.0]
        self.assertEqual(dumped(value), '["NaN","Infinity","-Infinity",1.0]')

    def test_integers_beyond_64_bits_are_strings(self):
        limit = 2**63
        self.assertEqual(dumped([limit - 1, 1 - limit]), f"[{limit - 1},{1 - limit}]")
        self.assertEqual(dumped([limit, -limit]), f'["{limit}","-{limit}"]')
        self.assertEqual(dumped(16**5000), f'"{hex(16**5000)}"')

    def test_lone_surrogates_are_replaced(self):
        self.assertEqual(dumped({"\ud800": "x\udfff"}), '{"\ufffd":"x\ufffd"}')

    def test_circular_values(self):
        loop = [1]
        loop.append({"self": loop})
        self.assertEqual(dumped(loop), f'[1,{{"self":"{safe_json.CIRCULAR}"}}]')

    def test_a_shared_value_is_not_circular(self):
        shared = [float("nan")]
        self.assertEqual(dumped([shared, shared]), '[["NaN"],["NaN"]]')

    def test_deep_values_are_cut_at_the_limit(self):
        def nested(depth):
            value = []
            for _ in range(depth - 1):
                value = [value]
            return value

        limit = safe_json.MAX_DEPTH
        self.assertEqual(dumped(nested(limit)), "[" * limit + "]" * limit)
        cut = "[" * limit + f'"{safe_json.TOO_DEEP}"' + "]" * limit
        self.assertEqual(dumped(nested(limit + 1)), cut)
        self.assertEqual(dumped(nested(100_000)), cut)

    def test_too_many_values_are_cut(self):
        value = json.loads(dumped([0] * 3_000_000))
        self.assertEqual(len(value), safe_json.MAX_NODES)
        self.assertEqual(value[-1], safe_json.TOO_MANY)

    def test_a_value_that_doubles_at_each_level_ends(self):
        value = [0]
        for _ in range(60):
            value = [value, value]
        started = time.monotonic()
        dumped(value)
        self.assertLess(time.monotonic() - started, 30)


class HostileObjects(unittest.TestCase):
    def test_other_objects_are_their_repr(self):
        self.assertEqual(dumped([1 + 2j, print]), '["(1+2j)","<built-in function print>"]')

    def test_failing_objects_are_placeholders(self):
        class Bad:
            __class__ = property(lambda self: 1 / 0)

            def __repr__(self):
                raise ValueError

        self.assertEqual(dumped([Bad()]), '["<unprintable Bad object: ValueError in __repr__>"]')

    def test_a_mapping_that_fails_is_its_repr(self):
        class Broken(dict):
            def items(self):
                raise SystemExit

        self.assertEqual(dumped(Broken(a=1)), "\"{'a': 1}\"")

    def test_a_long_repr_is_cut(self):
        class Long:
            def __repr__(self):
                return "x" * (safe_json.MAX_REPR_CHARS + 5)

        self.assertTrue(dumped(Long()).endswith('x... [5 more characters]"'))

    def test_interrupts_pass_through(self):
        class Stop:
            def __init__(self, error):
                self.error = error

            def __repr__(self):
                raise self.error

        for error in (KeyboardInterrupt, asyncio.CancelledError):
            with self.assertRaises(error):
                safe_json.dumps([Stop(error())])


if __name__ == "__main__":
    unittest.main()
