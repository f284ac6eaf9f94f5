"""Tests that import a trace with the weft program and replay it."""

def python_test(name, data = [], args = [], **kwargs):
    """NAME.py, run with the path of weft and then `args`."""
    native.sh_test(
        name = name,
        size = "small",
        srcs = ["//tests/goal/import:run_python.sh"],
        args = [
            "$(location %s.py)" % name,
            "$(location //tools/weft)",
        ] + args,
        data = data + [
            name + ".py",
            "//tests/goal/import:weft_command.py",
            "//tools/weft",
        ],
        **kwargs
    )
