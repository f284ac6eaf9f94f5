// What a sweep has read of its runs, and when it reads it again.
#include "tools/sweep/tables.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "tools/sweep/folder.h"
#include "tools/sweep/groups.h"

namespace weft::sweep {
namespace {

// Another content of the same length, in a file that looks as if nobody had touched it since.
void write_unnoticed(const std::string& file, const std::string& text) {
  struct stat before {};
  REQUIRE(stat(file.c_str(), &before) == 0);
  std::ofstream(file) << text;
  const timespec times[2] = {before.st_atim, before.st_mtim};
  REQUIRE(utimensat(AT_FDCWD, file.c_str(), times, 0) == 0);
}

std::string summary(int makespan) {
  return fmt::format(R"({{"outcome": "complete", "digest": "d", "makespan_ns": {}}})", makespan);
}

class Swept {
 public:
  Swept() : folder_(made(), {}) {}
  ~Swept() { std::filesystem::remove_all(folder_.path()); }

  Folder& folder() { return folder_; }
  void add(std::uint64_t seed, int makespan) {
    folder_.add({.values = {}, .seed = seed, .scenario = "# nothing\n"});
    std::filesystem::create_directory(folder_.run_folder(folder_.points().back()));
    std::ofstream(summary_of(seed)) << summary(makespan);
  }
  std::string summary_of(std::uint64_t seed) const {
    return fmt::format("{}/points/seed={}/summary.json", folder_.path(), seed);
  }

 private:
  static std::string made() {
    std::string name = std::filesystem::temp_directory_path() / "swept.XXXXXX";
    REQUIRE(mkdtemp(name.data()) != nullptr);
    return name;
  }
  Folder folder_;
};

double makespan(const Outcomes& outcomes, std::size_t point) {
  REQUIRE(outcomes.at(point));
  return outcomes[point]->figures.at(0).value();
}

}  // namespace

TEST_CASE("what was read of runs is read again only where it is another") {
  Swept swept;
  swept.add(1, 100);
  swept.add(2, 200);
  Outcomes outcomes = outcomes_of(swept.folder());
  REQUIRE(swept.folder().open_points().empty());

  // Were it read again, this would show.
  write_unnoticed(swept.summary_of(1), summary(900));
  swept.add(3, 300);
  outcomes = outcomes_of(swept.folder(), std::move(outcomes));
  CHECK(makespan(outcomes, 0) == 100);
  CHECK(makespan(outcomes, 1) == 200);
  CHECK(makespan(outcomes, 2) == 300);
  write_unnoticed(swept.summary_of(2), "{" + std::string(summary(200).size() - 1, ' '));
  CHECK(swept.folder().open_points().empty());
  CHECK(makespan(outcomes_of(swept.folder()), 0) == 900);

  std::filesystem::remove(swept.summary_of(1));
  std::ofstream(swept.summary_of(3)) << summary(4000);
  outcomes = outcomes_of(swept.folder(), std::move(outcomes));
  CHECK_FALSE(outcomes.at(0));
  CHECK(makespan(outcomes, 2) == 4000);
  CHECK(swept.folder().open_points().size() == 1);
}

}  // namespace weft::sweep
