"""Bazel's rules for C++ with the precompiled headers of this folder."""

load("//tools/bazel:together.bzl", "together")

_NAME = "//tools/bazel:common_headers"
_FLAGS = ["-include", "tools/bazel/common_headers.h"]

def _call(rule, kwargs):
    if kwargs.get("srcs"):
        kwargs["deps"] = kwargs.get("deps", []) + [_NAME]
        kwargs["copts"] = _FLAGS + kwargs.get("copts", [])
    rule(**kwargs)

def cc_library(joined = 1, apart = [], **kwargs):
    """A library; `joined` of its sources at a time are compiled as one, but for those `apart` (together.bzl)."""
    if joined > 1:
        kwargs["srcs"] = together(kwargs["name"], kwargs["srcs"], joined, apart)
    _call(native.cc_library, kwargs)

def cc_binary(**kwargs):
    _call(native.cc_binary, kwargs)

def cc_test(**kwargs):
    _call(native.cc_test, kwargs)
