# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# The tests on the build that is shipped, to be sourced by run.sh: engine, laboratory, command,
# Python and page; ranks and the GPU emulator where they are asked for.

get_nvcc() {
    nvcc=$(scripts/get_nvcc.sh) || skip "kernels for GPUs" "$nvcc"
}

# The environment of the Python tests, made beside the build of the library.
begin_python() {
    tests/python/environment.sh "$1" >build/python.answer 2>build/python.messages
    echo $? >build/python.status
}

# has GROUP: whether tests of this group are among those of selected.txt.
has() { grep -q " $1 " build/selected.txt; }

# without GROUP WHY: leaves out the tests of a group.
without() {
    skip "tests of the group $1" "$2"
    grep -v " $1 " build/selected.txt >build/selected.new
    mv build/selected.new build/selected.txt
}

end_python() {
    wait "$python_job"
    case $(cat build/python.status) in
    0) ;;
    3) without python "$(cat build/python.answer)" ;;
    *)
        cat build/python.messages
        without python "its environment could not be made"
        add 0 1 0
        ;;
    esac
}

# Both modules of the page, and the page.
page_modules() {
    build wasm 'page_modules page_check_scalar page_check_simd128' || return
    NODE_PATH=/usr/share/nodejs node web/build.mjs build/attend.html || add 0 1 0
    grep -q 'page_test_browser' build/selected.txt || return 0
    why=$(tests/page/packages.sh) && return
    skip "the page in Chromium" "$why"
    grep -v -e page_test_browser -e page_test_misuse build/selected.txt >build/selected.new
    mv build/selected.new build/selected.txt
}

configure_release() {
    python=OFF
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' && python=ON
    configure release -DATTEND_TESTS=ON -DATTEND_WERROR=ON -DATTEND_PYTHON=$python
}

# run_selected TIER: builds and runs the tests of selected.txt, lines of test_list.txt.  Budgets
# have the tier in the names of stages, except in `test`.
run_selected() {
    suffix=
    [ "$1" = test ] || suffix=-$1
    if has python; then
        case $1 in test) begin_python test ;; *) begin_python all ;; esac &
        python_job=$!
    fi
    timed "build$suffix" build release "$(targets <build/selected.txt)" || return
    if has page; then timed page page_modules; fi
    if has python; then timed environment end_python; fi
    timed "tests$suffix" run_ctest release -R "^($(awk '{ printf "%s%s", sep, $1; sep = "|" }' build/selected.txt))\$"
}

# release_tests TIERS [GROUP]: regular expressions.
release_tests() {
    configure_release || return
    awk -v tiers="^($1)\$" -v groups="${2:-.}" '$3 ~ tiers && $2 ~ groups' build/release/test_list.txt \
        >build/selected.txt
    if [ "${1#*all}" != "$1" ] && echo mpi | grep -qE "${2:-.}"; then
        for abi in openmpi mpich; do
            grep -q "^mpi_$abi" build/release/mpi_found.txt || skip "ranks of $abi" "its mpicc is not here"
        done
    fi
    # shellcheck disable=SC2154 # the first argument of run.sh
    case $1 in test) run_selected test ;; *) run_selected "$tier" ;; esac
}

# release_named PATTERN: tests of any tier whose names match.
release_named() {
    configure_release || return
    awk -v pattern="$1" '$1 ~ pattern' build/release/test_list.txt >build/selected.txt
    if ! [ -s build/selected.txt ]; then
        echo "run.sh: no test has a name that matches $1; names are in build/release/test_list.txt" >&2
        exit 2
    fi
    run_selected named
}
