"""What the tests of helpers share: status events that are remembered, a directory of their own, a provider."""
import json
import os
import tempfile
import unittest

from cellar_prelude import bridge
from cellar_runtime import display


class HelperTest(unittest.TestCase):
    def setUp(self):
        self.events = []
        display.install(self._publish)
        self.addCleanup(display.install, display._not_installed)
        self.folder = os.path.realpath(self.enterContext(tempfile.TemporaryDirectory()))
        before = os.environ.copy()
        self.addCleanup(os.environ.update, before)
        self.addCleanup(os.environ.clear)
        for name in [name for name in os.environ if name.startswith("PI_") or name.lower().endswith("_proxy")]:
            del os.environ[name]
        self.addCleanup(bridge.connect, None)

    def _publish(self, kind, entries, metadata, display_id):
        self.assertEqual((kind, entries[0][0]), ("status", "application/x-cellar-status"))
        self.events.append(json.loads(entries[0][2]))

    def path(self, name):
        return os.path.join(self.folder, name)

    def make(self, name, content=b""):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as file:
            file.write(content)
        return self.path(name)


class Provider:
    """Answers from a dict of functions, and remembers what it was asked."""

    def __init__(self, answers, tools=None, budget=None):
        self.answers = answers
        self.calls = []
        self._tools = tools
        self._budget = budget or {}

    def is_connected(self):
        return True

    def call(self, name, args):
        self.calls.append((name, args))
        return self.answers[name](args)

    async def acall(self, name, args):
        return self.call(name, args)

    def tools(self):
        return self._tools

    def budget(self):
        return self._budget
