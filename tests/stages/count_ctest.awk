# SPDX-License-Identifier: MIT
# Reads test_list.txt, what ctest printed, and its log.  Prints the output of each program that
# failed, a line for each program that skipped tests (verbose 1: for every program, 2: with its
# output), a line for each group, and last "total PASSED FAILED SKIPPED".

# Of a long output the last lines are printed.
BEGIN { most = 4000 }
FNR == 1 { file++ }
file == 1 { group[$1] = $2; next }
file == 2 {
    if (/\*\*\*/) {
        end = /SegFault/ ? "segmentation fault" : /aborted/ ? "aborted" : /Timeout/ ? "ended after too long a time" : \
            /Not Run/ ? "it could not be started" : /Exception/ ? "a signal" : ""
        for (x = 1; x < NF; x++) if ($x == "Test") { x++; if ($x ~ /^#/ && $x !~ /:$/) x++; ended[$(x + 1)] = end; break }
    }
    next
}

!inside && / Testing: / { name = $NF; lines = 0; line = ""; why_skipped = ""; armed = 0 }
/^<end of output>$/ { inside = 0 }
inside {
    output[lines++ % most] = $0
    line = $0
    if (why_skipped == "" && sub(/^ *SKIPPED: /, "", $0)) why_skipped = $0
}
/^-+$/ && !inside && armed { inside = 1; armed = 0; next }
/^Output:$/ { armed = 1 }
/^Test time = / { seconds = $4 }
/^Test (Passed|Failed)\.$/ {
    p = f = s = 0
    why = ""
    if (name ~ /^example_/) {
        if ($2 == "Passed.") p = 1
        else { f = 1; why = "it failed" }
    } else if (line !~ /^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/) {
        f = 1; why = "its last line is no count"
    } else {
        split(line, word, " ")
        p = word[1]; f = word[3]; s = word[5]
        if ($2 == "Failed." && f == 0) { f = 1; why = "exit status, but no failed test" }
        if (p + f + s == 0) { f = 1; why = "it ran no test" }
    }
    if (f > 0 && ended[name] != "") why = ended[name]
    if (f > 0 || verbose == 2) {
        if (lines > most) printf "(%d lines are left out)\n", lines - most
        for (x = lines > most ? lines - most : 0; x < lines; x++) print output[x % most]
    }
    if (f > 0 && preset == "release") printf "  repeat it: make test T='^%s$' %s\n", name, settings
    if (f > 0 && preset != "release") printf "  repeat it: %s ctest --test-dir build/%s -V -R '^%s$'\n", settings, preset, name
    if (f > 0 || s > 0 || verbose)
        printf "  %-32s %6.1f s  %d passed, %d failed, %d skipped%s%s\n", name, seconds, p, f, s, \
            why == "" ? "" : " (" why ")", why_skipped == "" || s == 0 ? "" : ": " why_skipped
    g = group[name]
    n[g]++; time[g] += seconds; sum[g, "p"] += p; sum[g, "f"] += f; sum[g, "s"] += s
    programs++
}

END {
    for (g in n) {
        printf "  %-7s %3d programs, %6.1f s: %d passed, %d failed, %d skipped\n", g, n[g], time[g], \
            sum[g, "p"], sum[g, "f"], sum[g, "s"]
        p_all += sum[g, "p"]; f_all += sum[g, "f"]; s_all += sum[g, "s"]
    }
    if (expected == 0 || programs != expected) {
        printf "  %d programs of %d were run\n", programs, expected
        f_all++
    }
    print "total", p_all + 0, f_all + 0, s_all + 0
}
