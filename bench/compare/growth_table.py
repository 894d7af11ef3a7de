# SPDX-License-Identifier: MIT
"""The Markdown tables of the growth with n and with threads."""

import results

TITLES = {"attend": "attend", **results.TITLES}


def line_title(line):
    way = "" if line["variant"] in ("attend_forward", "plain") else f" {line['variant']}"
    return f"{TITLES[line['engine']]}{way}, {line['dtype']}"


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "--:|" * len(header)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def figure(value):
    """Three significant digits, without an exponent."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}" if value >= 0.001 else "0"


def point_of(line, n):
    """The point at n; None if it was not reached, failed or disagreed."""
    for point in line["points"]:
        if point["n"] == n and point.get("agrees"):
            return point
    return None


def size_table(lines, field, unit):
    sizes = sorted({point["n"] for line in lines for point in line["points"]})
    rows = []
    for n in sizes:
        points = [point_of(line, n) for line in lines]
        rows.append([str(n)] + ["-" if p is None else figure(p[field] / unit) for p in points])
    return table(["n", *map(line_title, lines)], rows)


def thread_table(section, case, dtype):
    rows = [r for r in section["results"] if (r["case"], r["dtype"]) == (case, dtype)]
    body = []
    for row in rows:
        timings = row["timings"]
        times = [results.milliseconds(results.best_of(timings, name)) for name in TITLES]
        ratio = results.ratio(timings)
        body.append([str(row["threads"]), *times, "-" if ratio is None else f"{ratio:.2f}"])
    return table(["threads", *TITLES.values(), "ratio"], body)


def where(section):
    machine = section["machine"]
    versions = ", ".join(f"{name} {v}" for name, v in section["versions"].items())
    return (
        f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gib']} GiB; "
        f"{section['date']}; {versions}.\n"
    )


def markdown(document):
    """Of whichever sections the document has."""
    parts = []
    sizes = document.get("sizes")
    if sizes:
        parts.append(f"Causal, one head, d = 64, {sizes['threads']} threads. {where(sizes)}")
        parts.append("Milliseconds of a call:\n\n" + size_table(sizes["lines"], "median_ms", 1))
        parts.append(
            "Peak memory of the process above its inputs, in MB:\n\n"
            + size_table(sizes["lines"], "peak_bytes", 1e6)
        )
        stops = [f"- {line_title(x)}: {x['stopped']}\n" for x in sizes["lines"] if x["stopped"]]
        if stops:
            parts.append("Where a line stops, the next size would have taken:\n\n" + "".join(stops))
    threads = document.get("threads")
    if threads:
        parts.append(f"Milliseconds over threads; ratio = best rival / attend. {where(threads)}")
        pairs = dict.fromkeys((r["case"], r["dtype"]) for r in threads["results"])
        for case, dtype in pairs:
            parts.append(f"`{case}`, {dtype}:\n\n" + thread_table(threads, case, dtype))
    return "\n".join(parts)
