// The list of importers, and finding out which of them a file or folder is for.
#include "goal/import/importers.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;

// A new empty folder.
fs::path folder(const std::string& name) {
  const fs::path path = fs::path(std::getenv("TEST_TMPDIR")) / name;
  fs::remove_all(path);
  fs::create_directories(path);
  return path;
}

void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

std::string first_bytes(const fs::path& path) {
  std::ifstream file(path);
  std::string text(3, '\0');
  file.read(text.data(), 3);
  return text;
}

Importer made_up(const char* name, const char* looks_like, bool (*sniff)(const fs::path&)) {
  return {.info = {.name = name, .summary = "", .source = "", .parameters = {}},
          .looks_like = looks_like,
          .span = "",
          .sniff = sniff,
          .import = nullptr};
}

const Importer kMadeUp[] = {
    made_up("box", "a file that begins with BOX", [](const fs::path& p) { return first_bytes(p) == "BOX"; }),
    made_up("crate", "a file whose name ends in .crate",
            [](const fs::path& p) { return p.extension() == ".crate"; }),
};

}  // namespace

TEST_CASE("sniffing: the one importer that knows it") {
  const fs::path at = folder("one");
  write(at / "a", "BOX of things");
  write(at / "b.crate", "things");
  CHECK(sniff_importer(kMadeUp, at / "a").info.name == "box");
  CHECK(sniff_importer(kMadeUp, at / "b.crate").info.name == "crate");
}

TEST_CASE("sniffing: nothing fits, several fit, nothing there") {
  const fs::path at = folder("none");
  write(at / "a", "bag");
  write(at / "b.crate", "BOX");
  CHECK_THROWS_WITH(
      sniff_importer(kMadeUp, at / "a"),
      (at / "a").string() +
          ": no importer knows this; looked for: a file that begins with BOX (box); a file whose "
          "name ends in .crate (crate)");
  CHECK_THROWS_WITH(sniff_importer(kMadeUp, at / "b.crate"),
                    (at / "b.crate").string() +
                        ": this may be of several formats: box, crate; name one, like weft import box " +
                        (at / "b.crate").string());
  CHECK_THROWS_WITH(sniff_importer(kMadeUp, at / "c"), Contains("there is no such file or folder"));
  CHECK_THROWS_AS(sniff_importer({}, at / "a"), InputError);
}

TEST_CASE("sniffing: traces of MPI programs are folders with files of ranks") {
  const fs::path at = folder("mpi");
  CHECK_THROWS_WITH(sniff_importer(importers(), at), Contains("a folder with files rank-*.wtrc (mpi)"));
  write(at / "rank-0.txt", "");
  write(at / "notes.wtrc", "");
  CHECK_THROWS_WITH(sniff_importer(importers(), at), Contains("no importer knows this"));
  // A damaged one too: the import says what is wrong with it.
  write(at / "rank-000000.wtrc", "");
  CHECK(sniff_importer(importers(), at).info.name == "mpi");
  CHECK_THROWS_WITH(sniff_importer(importers(), at / "rank-000000.wtrc"), Contains("no importer knows this"));
}

TEST_CASE("importers: every one is complete, has a name of its own, and is documented") {
  std::ifstream file("goal/import/README.md");
  const std::string readme{std::istreambuf_iterator<char>(file), {}};
  REQUIRE_FALSE(readme.empty());
  std::set<std::string> names;
  for (const Importer& importer : importers()) {
    INFO(importer.info.name);
    CHECK(names.insert(importer.info.name).second);
    CHECK_FALSE(importer.looks_like.empty());
    CHECK(importer.sniff != nullptr);
    CHECK(importer.import != nullptr);
    CHECK_THAT(readme, Contains("\n| [`" + importer.info.name + "`]("));
  }
}

}  // namespace weft::goal
