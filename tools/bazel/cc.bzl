"""Bazel's rules for C++ with the precompiled headers of this folder."""

load("//tools/bazel:together.bzl", "together")

def _call(rule, kwargs, headers = "common_headers"):
    if kwargs.get("srcs"):
        kwargs["deps"] = kwargs.get("deps", []) + ["//tools/bazel:" + headers]
        kwargs["copts"] = ["-include", "tools/bazel/%s.h" % headers] + kwargs.get("copts", [])
    rule(**kwargs)

def cc_library(joined = 1, apart = [], **kwargs):
    """A library; `joined` of its sources at a time are compiled as one, but for those `apart` (together.bzl)."""
    if joined > 1:
        kwargs["srcs"] = together(kwargs["name"], kwargs["srcs"], joined, apart)
    _call(native.cc_library, kwargs)

def cc_binary(**kwargs):
    _call(native.cc_binary, kwargs)

def cc_test(**kwargs):
    """A test; where it has Catch2's main(), Catch2 is precompiled as well."""
    _call(native.cc_test, kwargs, "test_headers" if "//tests:catch_main" in kwargs.get("deps", []) else "common_headers")
