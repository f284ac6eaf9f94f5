"""Several sources of a library compiled as one: each pays for the headers that all of them include only once."""

def _joined_source_impl(ctx):
    joined = ctx.actions.declare_file(ctx.label.name + ".cc")

    # The text itself, so that the sources are inputs of this file alone; messages name the source and its line.
    ctx.actions.run_shell(
        inputs = ctx.files.srcs,
        outputs = [joined],
        arguments = [joined.path] + [source.path for source in ctx.files.srcs],
        command = 'out=$1; shift; for f; do echo "#line 1 \\"$f\\""; cat "$f"; done > "$out"',
        mnemonic = "JoinSources",
    )
    return [DefaultInfo(files = depset([joined]))]

joined_source = rule(
    implementation = _joined_source_impl,
    attrs = {"srcs": attr.label_list(allow_files = [".cc"])},
)

def together(name, srcs, count, apart):
    """The sources of a library, at most `count` in a file.

    Names in their unnamed namespaces must differ.

    Args:
      name: of the library.
      srcs: its sources, headers among them.
      count: how many sources become one.
      apart: those that stay alone.
    Returns:
      what to compile in their place.
    """
    alone = [source for source in srcs if not source.endswith(".cc") or source in apart]
    rest = [source for source in srcs if source not in alone]
    joined = []
    for i in range(0, len(rest), count):
        joined.append("{}_{}".format(name, i // count))
        joined_source(
            name = joined[-1],
            srcs = rest[i:i + count],
            visibility = ["//visibility:private"],
        )
    return alone + joined
