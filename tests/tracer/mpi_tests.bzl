"""Test targets that run programs of this folder under the tracer."""

load("//tools/bazel:cc.bzl", "cc_test")

# The two libraries, as the names of their commands and of the programs built for them end.
MPIS = [
    "openmpi",
    "mpich",
]

def mpi_cc_test(name, src, programs, mpis = MPIS, data = [], **kwargs):
    """Runs programs/X.c for each X in `programs` and reads what the tracer left."""
    cc_test(
        name = name,
        srcs = [src],
        data = ["//tracer/mpi"] + data + [":%s_%s" % (program, mpi) for program in programs for mpi in mpis],
        local = True,
        tags = ["mpi"],
        deps = [
            ":traced_run",
            "//goal/import/mpi:trace_reader",
            "//tests:catch_main",
            "@system//:catch2",
            "@system//:fmt",
        ],
        **kwargs
    )

def mpi_python_test(name, src, programs, mpis = MPIS, **kwargs):
    """A Python test that gets the paths of the weft program and of each X of `programs`, for each MPI."""
    built = [":%s_%s" % (program, mpi) for program in programs for mpi in mpis]
    native.sh_test(
        name = name,
        srcs = ["//tests/e2e:run_python.sh"],
        args = [
            "$(location %s)" % src,
            "$(location //tools/weft)",
        ] + ["$(location %s)" % program for program in built],
        data = [
            src,
            "//tools/weft",
            "//tracer/mpi",
        ] + built,
        local = True,
        tags = ["mpi"],
        **kwargs
    )
