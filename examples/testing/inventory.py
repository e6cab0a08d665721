"""A small module, to be tested from C++."""


class OutOfStock(Exception):
    pass


class Inventory:
    def __init__(self):
        self._counts = {}

    def add(self, item, count=1):
        self._counts[item] = self._counts.get(item, 0) + count

    def take(self, item):
        if not self._counts.get(item):
            raise OutOfStock(item)
        self._counts[item] -= 1
        return self._counts[item]

    def report(self):
        for item in sorted(self._counts):
            print(f"{item}: {self._counts[item]}")
