"""Fuzz targets: tests that replay their corpus, and fuzzers under --config=fuzz."""

def fuzz_target(name, src, deps):
    """A cc_test with LLVMFuzzerTestOneInput() in `src` and its inputs in corpus/NAME.

    Args:
      name: the target's name.
      src: its one file.
      deps: the readers.
    """
    native.cc_test(
        name = name,
        size = "small",
        srcs = [src],
        data = native.glob(["corpus/" + name + "/*"]),
        linkopts = select({
            ":fuzzing": ["-fsanitize=fuzzer"],
            "//conditions:default": [],
        }),
        deps = deps + [":fuzz"] + select({
            ":fuzzing": [],
            "//conditions:default": [":replay"],
        }),
    )
