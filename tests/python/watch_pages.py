# SPDX-License-Identifier: MIT
"""Helpers of the tests of a watch's page: a small watch, and its path."""

import os
import shutil
import tempfile
import unittest

from eager_weights import watched
from setting import read
from tiny_models import DECODERS, build, tokens


class Words:
    """Names every token by its number; some names contain characters that must be escaped."""

    def decode(self, ids):
        return " </script><b>" if ids[0] == 7 else f" w{ids[0]}"


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="attend-page-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.dir, name)

    def saved(self, w, **more):
        w.save(self.path("watch.html"), **more)
        self.assertEqual([name for name in os.listdir(self.dir) if "watch" in name], ["watch.html"])
        return read(self.path("watch.html"))


def small_watch(keep="qkv"):
    model, ids = build(DECODERS["llama"]), 3 + tokens(batch=1, length=40) % 11
    return watched(model, ids, Words(), keep=keep)
