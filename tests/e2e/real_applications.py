"""What tests need that run real MPI programs."""

import os
import subprocess
from pathlib import Path

EXAMPLES = Path("examples/quickstart").resolve()
ENVIRONMENT = os.environ | {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "HOME": os.environ.get("HOME", "/tmp"),
}


def run(arguments, folder):
    """Runs a command; its standard output. A failure shows all that it printed."""
    done = subprocess.run(arguments, cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(arguments)}: exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout
