"""Tests that import a trace with the weft program and replay it."""

def python_test(name, src, data = [], args = [], **kwargs):
    """`src`, run with the path of weft and then `args`."""
    native.sh_test(
        name = name,
        size = "small",
        srcs = ["//tests/goal/import:run_python.sh"],
        args = [
            "$(location %s)" % src,
            "$(location //tools/weft)",
        ] + args,
        data = data + [
            src,
            "//tests/goal/import:weft_command.py",
            "//tools/weft",
        ],
        **kwargs
    )
