#!/bin/sh
# SPDX-License-Identifier: MIT
# run_one.sh PYTHON PACKAGES PROGRAM: run a test program by cli/harness.py; the package attend
# is that of the folder PACKAGES, as a build leaves it.
#
# The last line is the program's count.  Programs run beside each other, so each has one thread
# unless it asks for more.  What Python compiles is kept beside the environment, not in the tree.
set -u
environment=${1%/bin/python}
[ -f "$environment/pip_config" ] && export PIP_CONFIG_FILE=/dev/null
export OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 PATH="$environment/bin:$PATH"
export PYTHONPATH="$2" PYTHONPYCACHEPREFIX="$environment/compiled"
unset PYTHONDONTWRITEBYTECODE
exec "$1" "${0%/python/*}/cli/harness.py" "$3" 2>&1
