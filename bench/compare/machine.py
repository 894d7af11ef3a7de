# SPDX-License-Identifier: MIT
"""The machine a figure was measured on."""

import os
import platform


def usable_cores():
    return len(os.sched_getaffinity(0))


def field(path, name):
    with open(path, encoding="utf-8") as file:
        for line in file:
            key, _, value = line.partition(":")
            if key.strip() == name:
                return value.strip()
    return "unknown"


def available_bytes():
    return int(field("/proc/meminfo", "MemAvailable").split()[0]) << 10


def describe():
    kilobytes = int(field("/proc/meminfo", "MemTotal").split()[0])
    return {
        "cpu": field("/proc/cpuinfo", "model name"),
        "cores": usable_cores(),
        "memory_gib": round(kilobytes / 2**20),
        "system": f"{platform.system()} {platform.release()}",
    }
