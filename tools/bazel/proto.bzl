"""C++ code from a .proto file, by the system's protoc."""

def cpp_proto_library(name, src, deps = [], **kwargs):
    """A cc_library with the classes of one .proto file.

    Include it as "<package>/<file>.pb.h".

    Args:
      name: the library's name.
      src: the .proto file, in this package.
      deps: cpp_proto_library targets that src imports.
      **kwargs: handed on to cc_library.
    """
    stem = src[:-len(".proto")]
    native.genrule(
        name = name + "_gen",
        srcs = [src],
        outs = [stem + ".pb.h", stem + ".pb.cc"],
        cmd = "protoc -I. --cpp_out=$(GENDIR) $(location %s)" % src,
    )
    native.cc_library(
        name = name,
        srcs = [stem + ".pb.cc"],
        hdrs = [stem + ".pb.h"],
        copts = ["-w"],
        deps = deps + ["@system//:protobuf"],
        **kwargs
    )
