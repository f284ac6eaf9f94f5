"""tidy.py: for every check, snippets it must find and look-alikes it must leave alone."""

import unittest

import tidy

BUILD = 'cc_library(name = "a", srcs = ["a.cc"], hdrs = ["a.h"])\n'


def findings(text, path="sim/core/a.cc"):
    """The checks that speak up about one file, with a BUILD.bazel beside it, as (line, check)."""
    texts = {path: text, path.rsplit("/", 1)[0] + "/BUILD.bazel": BUILD}
    return [(f.line, f.check) for f in tidy.check_all(texts)]


class TidyTest(unittest.TestCase):
    def assert_found(self, check, *snippets, **where):
        for snippet in snippets:
            self.assertEqual(findings("\n" + snippet + "\n", **where), [(2, check)], snippet)

    def assert_clean(self, *snippets, **where):
        for snippet in snippets:
            self.assertEqual(findings("\n" + snippet + "\n", **where), [], snippet)

    def test_random(self):
        self.assert_found("random", "int x = rand();", "std::srand(7);", "std::random_device device;",
                          "x = drand48();", "return ::random() % 3;")
        self.assert_clean("int x = operand(3);", "stream.rand();", "// rand() is banned", 'f("rand()");',
                          "Random random(seed);", "my_random(3);",
                          "std::mt19937_64 random(7); return random() % 3;", "weft::random(3);")

    def test_clock(self):
        self.assert_found("clock", "auto t = std::chrono::steady_clock::now();", "time(NULL);",
                          "t = std::time(nullptr);", "gettimeofday(&t, nullptr);",
                          "clock_gettime(CLOCK_MONOTONIC, &t);", "auto c = clock();",
                          "using clock = std::chrono::system_clock;")
        self.assert_clean("Time time(5);", "parameters.time(name);", "info.clock();", "finish_time(0);",
                          "Parameters::time(&name);", "/* steady_clock */ int x;")

    def test_clock_may_be_read_where_speed_is_measured(self):
        for path in ("tools/weft/a.cc", "tools/bench/a.cc", "tracer/mpi/a.cc"):
            self.assert_clean("clock_gettime(CLOCK_MONOTONIC, &t);", path=path)
        self.assert_found("clock", "clock_gettime(CLOCK_MONOTONIC, &t);", path="tools/report/a.cc")

    def test_exit(self):
        self.assert_found("exit", "exit(1);", "std::abort();", "_exit(2);", "::exit(3);", "std::terminate();")
        self.assert_clean("on_exit(1);", "loop.exit();", "// exit(1)", 'throw Error("abort()");')
        self.assert_clean("int main() { exit(1); }")
        self.assert_clean("abort();", path="tracer/mpi/a.cc")

    def test_defaults(self):
        for text in ("x = v.integer().value_or(0);", "whole_number(text.substr(3)).value_or(1)", "integer_of(a)\n    .value_or(0)"):
            self.assert_found("defaults", text, path="goal/import/a/a.cc")
            self.assert_clean(text, path="sim/a.cc")
        self.assert_clean("v.integer_or(0); rate.value_or(standard.rate);", path="topologies/import/a.cc")

    def test_kinds(self):
        self.assert_found("kinds", 'if (plan.topology.name().starts_with("torus")) f();',
                          'b = algorithm->info.name.ends_with("_ring");')
        self.assert_clean('b = text.starts_with("ring");', '// a.name.starts_with("ring")',
                          'b = entry.name.starts_with(prefix);')
        self.assert_clean('b = event.name.starts_with("nccl");', path="goal/import/a/a.cc")

    def test_order(self):
        self.assert_found("order", "std::unordered_map<int, A> m; for (auto& [k, v] : m) use(v);",
                          "std::unordered_set<std::pair<int, int>> s_; for (const auto& x : this->s_) f(x);",
                          "const std::unordered_map<int, B>& all(); for (auto& x : all()) { f(x); }",
                          "std::unordered_map<int, int> m; std::vector<P> v(m.begin(), m.end());",
                          "using Map = std::unordered_map<int, int>; Map m; for (auto x : m) f(x);",
                          "for (auto x : std::unordered_set<int>{1, 2}) f(x);")
        self.assert_clean("std::unordered_map<int, A> m; if (m.find(3) != m.end()) f(m[3]);",
                          "std::map<int, A> m; for (auto& [k, v] : m) use(v);",
                          "std::unordered_map<int, A> m; std::vector<int> v; for (int x : v) use(m[x]);",
                          "std::unordered_map<int, A> m; for (int i = 0; i < 3; ++i) use(m.at(i));",
                          "bool f = x ? a : b;")

    def test_order_sees_members_declared_in_the_header(self):
        header = "class A { std::unordered_map<int, int> table_; };\n"
        body = "void A::f() {\n  for (auto& x : table_) g(x);\n}\n"
        self.assertEqual(findings(body), [])
        found = tidy.check_all({"sim/core/a.cc": body, "sim/core/a.h": header, "sim/core/BUILD.bazel": BUILD})
        self.assertEqual([f[:3] for f in found], [("sim/core/a.cc", 2, "order")])

    def test_waiver_needs_the_right_check_and_a_reason(self):
        loop = "std::unordered_map<int, A> m; for (auto& x : m) f(x);"
        self.assert_clean(loop + "  // tidy: order because f only adds integers",
                          "// tidy: order because f only adds integers\n" + loop)
        for comment in ("// tidy: clock because why not", "// tidy: order because", "// tidy: order"):
            self.assert_found("order", loop + "  " + comment)

    def test_build(self):
        def files(path, build_path, build):
            return [(f.path, f.check) for f in tidy.check_all({path: "", build_path: build})]

        self.assertEqual(files("sim/core/b.cc", "sim/core/BUILD.bazel", BUILD), [("sim/core/b.cc", "build")])
        for path in ("sim/core/b.proto", "sim/core/xa.cc"):
            self.assertEqual(files(path, "sim/core/BUILD.bazel", BUILD), [(path, "build")])
        self.assertEqual(files("sim/core/a.cc", "goal/BUILD.bazel", BUILD), [("sim/core/a.cc", "build")])
        self.assertEqual(files("sim/core/a.cc", "sim/core/BUILD.bazel", BUILD), [])
        self.assertEqual(files("tests/e2e/run.sh", "tests/e2e/BUILD.bazel", 'srcs = [":run.sh"]'), [])
        self.assertEqual(files("sim/core/parts/b.h", "sim/core/BUILD.bazel", 'hdrs = ["parts/b.h"]'), [])
        self.assertEqual(files("sim/core/b.h", "sim/core/BUILD.bazel", 'hdrs = glob(["*.h"])'), [])
        self.assertEqual(files("sim/core/b.h", "sim/core/BUILD.bazel", 'hdrs = glob(["*.cc"])'),
                         [("sim/core/b.h", "build")])

    def test_names(self):
        module = ('ModuleInfo info() {\n  return {.name = "fat_tree",\n .summary = "A tree", '
                  '.parameters = {{"k", .name = "k"}}};\n}\n')
        other = 'const ModuleInfo kInfo{"slim_fly", "A graph of diameter two"};\n'
        for text, line in ((module, 2), (other, 1)):
            def checks(readme):
                return [(f.line, f.check) for f in tidy.check_all(
                    {"sim/core/a.cc": text, "sim/core/BUILD.bazel": BUILD, "sim/core/README.md": readme})]

            self.assertEqual(checks("Here live `fat_trees` and `slim`."), [(line, "names")])
            self.assertEqual(checks("`fat_tree` and `slim_fly`."), [])

    def test_names_may_stand_in_the_readme_above_but_not_in_the_topmost(self):
        texts = {"topologies/families/a.cc": 'ModuleInfo kTree{"tree", "A tree"};', "README.md": "tree",
                 "topologies/families/BUILD.bazel": BUILD, "topologies/README.md": "`tree`"}
        self.assertEqual(tidy.check_all(texts), [])
        texts["topologies/README.md"] = "nothing"
        self.assertEqual([f.check for f in tidy.check_all(texts)], ["names"])

    def test_listed_names(self):
        listing = "topology fat_tree\nnetwork packet\ntaste sour\n"
        readmes = {"topologies": "`fat_tree` and others", "sim/packet": "", "sim/loggops": "the packets"}
        self.assertEqual([f.what.split(" is ")[0] for f in tidy.check_listed(listing, readmes)],
                         ["network 'packet'", "no folder"])
        self.assertEqual(list(tidy.check_listed("topology fat_tree\n", readmes)), [])

    def test_long(self):
        line = "int x;\n"
        self.assertEqual(findings(line * 600), [])
        self.assertEqual(findings(line * 601), [(601, "long")])
        self.assertEqual(findings(line * 601 + "// tidy: long because it is one table\n"), [])

    def test_function(self):
        for head in ("void f(int a) {", "Time f() const {", "template <typename T>\nauto f(T a) -> int {",
                     "Foo::Foo(int a) : a_{a}, b_(3) {", "bool Foo::operator==(const Foo& o) const {",
                     "int f(int a = 3) noexcept {", "static std::vector<int> f(std::map<int, int> m) {",
                     "Out f() {\n  const auto inner = [] {", 'TEST_CASE("title (one)") {', "bool operator()(int a) {"):
            closed = "};\n" if "inner" in head else ""
            for wrap, end in (("", ""), ("namespace a::b {", "}"), ("class Foo final : public Bar {", "};"),
                              ("struct alignas(64) Foo {", "};"), ('extern "C" {', "}"),
                              ("template <class T> struct Foo {", "};"), ("enum class E { a };\n#define X {", "")):
                fits = 68 - head.count("\n") - closed.count("\n")
                short = f"{wrap}\n{head}\n" + "x();\n" * fits + f"{closed}}}\n{end}\n"
                self.assertEqual(findings(short), [], short[:60])
                first = 2 + wrap.count("\n")
                long = short.replace("x();", "x();\nx();", 1)
                self.assertEqual(findings(long), [(first, "function")], long[:60])
        table = "constexpr int kTable[] = {\n" + "3,\n" * 90 + "};\n"
        self.assertEqual(findings(table), [])
        self.assertEqual(findings("struct A {\n" + "void f() { g(); }\n" * 90 + "};\n"), [])
        self.assertEqual(findings("void f() {\n" + "// }\n" * 90 + "}\n"), [(1, "function")])

    def test_function_of_scripts(self):
        def lines_of(path, text):
            return [(f.line, f.check) for f in tidy.check_functions([tidy.Source(path, text)], "")]
        body = "    x()\n"
        self.assertEqual(lines_of("a.py", "def f():\n" + body * 69 + "x = 3\n" + body[4:] * 90), [])
        self.assertEqual(lines_of("a.py", "x = 3\ndef f():\n" + body * 70), [(2, "function")])
        self.assertEqual(lines_of("a.py", "class A:\n  def f(self):\n" + body * 70), [(2, "function")])
        self.assertEqual(lines_of("a.py", "class A:\n" + "  def f(self):\n    x()\n" * 70), [])
        self.assertEqual(lines_of("a.sh", "f() {\n" + "  if { x; }; then :; fi\n" * 68 + "}\nx\n"), [])
        for path, first in (("a.sh", ""), ("tool", "#!/bin/bash\n")):
            self.assertEqual(lines_of(path, first + "f() {\n" + "  x\n" * 69 + "}\n"), [(2 if first else 1, "function")])

    def test_function_exceptions(self):
        long = tidy.Source("a.cc", "void A::f() {\n" + "x();\n" * 90 + "}\n")
        def found(exceptions):
            return [(f.path, f.line) for f in tidy.check_functions([long], exceptions)]
        self.assertEqual(found("# why\n\na.cc A::f because it is one table\n"), [])
        self.assertEqual(found("b.cc A::f because it is one table\n"), [("a.cc", 1), (tidy.EXCEPTIONS, 1)])
        self.assertEqual(found("a.cc A::f because it is long\na.cc f because of g\n"), [(tidy.EXCEPTIONS, 2)])
        self.assertEqual(found("a.cc A::f\n"), [("a.cc", 1), (tidy.EXCEPTIONS, 1)])
        self.assertEqual(found("a.cc A::f because \n"), [("a.cc", 1), (tidy.EXCEPTIONS, 1)])

    def test_class(self):
        def found(files, known=""):
            sources = [tidy.Source(path, text) for path, text in files.items()]
            return [(f.path, f.line) for f in tidy.check_classes(sources, known)]
        def body(lines):  # of so many lines
            return "class A final : public b::B {\n" + "  int x;\n" * (lines - 2) + "};\n"
        def member(lines, name="A::f"):
            return f"C::D {name}(int a) {{\n" + "  x();\n" * (lines - 2) + "}\n"
        apart = {"s/a.h": body(100), "s/a.cc": member(250) + member(200), "s/b.cc": "namespace c {\n" + member(50)}
        self.assertEqual(found(apart), [])
        for file in apart:
            self.assertEqual(found(dict(apart, **{file: apart[file].replace("\n  ", "\n\n  ", 1)})), [("s/a.h", 1)])
        self.assertEqual(found(apart | {"t/c.cc": member(300), "s/d.cc": member(300, "f") + member(300, "B::f")}), [])
        self.assertEqual(found({"s/a.h": body(500), "s/b.cc": member(101, "A::Inner::f")}), [("s/a.h", 1)])
        # Two files may each have a class of its own with that name.
        self.assertEqual(found({"s/a.cc": body(300) + member(300), "s/b.cc": body(300) + member(300),
                                "s/a.h": body(600)}), [])
        self.assertEqual(found({"s/a.cc": body(300) + member(301)}), [("s/a.cc", 1)])
        large = {"s/a.h": body(601)}
        self.assertEqual(found(large, "# why\n\ns/a.h A 601 because it is one table\n"), [])
        for known in ("s/a.h A 600 because it grew", "s/a.h A 602 because it shrank"):
            self.assertEqual(found(large, known), [(tidy.KNOWN_CLASSES, 1)])
        self.assertEqual(found(large, "s/a.h A because it is"), [(tidy.KNOWN_CLASSES, 1), ("s/a.h", 1)])
        self.assertEqual(found({"s/a.h": body(600)}, "s/a.h A 601 because it was"), [(tidy.KNOWN_CLASSES, 1)])

    def test_words(self):
        self.assert_found("words", "// TODO: later", "int x;  // FIXME", "// see issue 12", "// as #12 says",
                          "// in /work/main", "// from shared/facts")
        self.assert_clean("#include <a>", "#if 0", "homework/main", 'f("color", "#123456")', "TODOS",
                          "x = y#z;")
        self.assert_found("words", "Fixed (#31).", path="sim/core/README.md")

    def test_fragment(self):
        self.assert_found("fragment", "// Of the hosts.\nint x;", "  // The same for hosts.\n  int x;",
                          "// Of hosts: as many\n// as there are.\nint x;")
        self.assert_found("fragment", "// The same.\nint x;", path="tests/sim/a.h")
        self.assertEqual(findings("// Of the hosts.\nint x;\n"), [(1, "fragment")])
        self.assertEqual(findings("int x;  // hosts\n// Of these.\nint y;\n"), [(2, "fragment")])
        self.assert_clean("// Says how many there are:\n// Of hosts, all.", "int x;  // Of the hosts.",
                          'f("// Of the hosts.");', 'f(R"(\n// The same.\n)");', "/*\n// Of the hosts.\n*/",
                          "// Often there is none.", "// The samest.", "// Hosts are of the same kind.",
                          "// Of a source.  // tidy: fragment because it is a title")
        self.assert_clean("// Of the hosts.", path="sim/core/README.md")

    def test_top(self):
        found = tidy.check_all({"notes.txt": "", "README.md": "", ".bazelrc": ""})
        self.assertEqual([f.check for f in found], ["top"])


if __name__ == "__main__":
    unittest.main()
