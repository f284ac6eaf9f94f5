"""The headers that a C++ library and all it depends on give, as files for a test to compile with."""

def _transitive_headers_impl(ctx):
    headers = depset(transitive = [dep[CcInfo].compilation_context.headers for dep in ctx.attr.deps])
    return [DefaultInfo(files = headers, runfiles = ctx.runfiles(transitive_files = headers))]

transitive_headers = rule(
    implementation = _transitive_headers_impl,
    attrs = {"deps": attr.label_list(providers = [CcInfo])},
)
