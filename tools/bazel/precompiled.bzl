"""Headers of the standard library that nearly every file includes, compiled once instead of with each."""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _precompiled_headers_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    header = ctx.actions.declare_file(ctx.label.name + ".h")
    ctx.actions.write(header, "".join(["#include <%s>\n" % name for name in ctx.attr.headers]))
    headers = [header]

    # What GCC finds beside a header, if it was compiled with the same flags: else it reads the header itself, as
    # for shared libraries.
    if toolchain.compiler.find("clang") < 0:
        compiled = ctx.actions.declare_file(ctx.label.name + ".h.gch")
        variables = cc_common.create_compile_variables(
            feature_configuration = features,
            cc_toolchain = toolchain,
            user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts,
        )
        ctx.actions.run(
            executable = cc_common.get_tool_for_action(
                feature_configuration = features,
                action_name = ACTION_NAMES.cpp_compile,
            ),
            arguments = cc_common.get_memory_inefficient_command_line(
                feature_configuration = features,
                action_name = ACTION_NAMES.cpp_compile,
                variables = variables,
            ) + ["-x", "c++-header", header.path, "-o", compiled.path],
            env = cc_common.get_environment_variables(
                feature_configuration = features,
                action_name = ACTION_NAMES.cpp_compile,
                variables = variables,
            ),
            inputs = depset([header], transitive = [toolchain.all_files]),
            outputs = [compiled],
            mnemonic = "CppPrecompile",
        )
        headers.append(compiled)
    return [
        DefaultInfo(files = depset(headers)),
        CcInfo(compilation_context = cc_common.create_compilation_context(
            headers = depset(headers),
            quote_includes = depset([ctx.bin_dir.path]),
        )),
    ]

precompiled_headers = rule(
    implementation = _precompiled_headers_impl,
    attrs = {
        "headers": attr.string_list(doc = "What to compile, as named between angle brackets."),
        "_cc_toolchain": attr.label(default = Label("@bazel_tools//tools/cpp:current_cc_toolchain")),
    },
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
    fragments = ["cpp"],
)
