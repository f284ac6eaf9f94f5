"""Bazel's rules for C++ with the precompiled headers of this folder."""

_NAME = "//tools/bazel:common_headers"
_FLAGS = ["-include", "tools/bazel/common_headers.h"]

def _call(rule, kwargs):
    if kwargs.get("srcs"):
        kwargs["deps"] = kwargs.get("deps", []) + [_NAME]
        kwargs["copts"] = _FLAGS + kwargs.get("copts", [])
    rule(**kwargs)

def cc_library(**kwargs):
    _call(native.cc_library, kwargs)

def cc_binary(**kwargs):
    _call(native.cc_binary, kwargs)

def cc_test(**kwargs):
    _call(native.cc_test, kwargs)
