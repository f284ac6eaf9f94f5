// The folder of one run at a time, and files that are there whole or not at all.
#include "sim/results/results_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>

#include "sim/results/output_file.h"
#include "sim/units/input_error.h"

namespace weft::results {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using Names = std::set<std::string>;

std::string temporary(const std::string& name) {
  const fs::path path = fs::path(std::getenv("TEST_TMPDIR")) / name;
  fs::remove_all(path);
  return path.string();
}

Names names_in(const std::string& folder) {
  Names names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

const std::vector<std::string> kFiles = {"summary.json", "ranks.csv", "series.csv"};

// A folder with the results of a run that is complete.
std::string with_results(const std::string& name) {
  const std::string path = temporary(name);
  fs::create_directories(path);
  for (const std::string& file : kFiles) put(path + "/" + file, "old");
  return path;
}

int busy(int, int) {
  errno = EWOULDBLOCK;
  return -1;
}
int no_locks(int, int) {
  errno = ENOLCK;
  return -1;
}
int unsupported(int, int) {
  errno = EOPNOTSUPP;
  return -1;
}

}  // namespace

TEST_CASE("results folder: nothing of an earlier run goes before the new one begins") {
  const std::string path = with_results("before");
  {
    ResultsFolder folder(path, kFiles);
    OutputFile growing(path + "/series.csv");
    growing.write("new");
    note_end_of_run("told too early");
    for (const std::string& file : kFiles) CHECK(content(path + "/" + file) == "old");
    CHECK_FALSE(fs::exists(path + "/INCOMPLETE"));
  }
  CHECK(names_in(path) == Names(kFiles.begin(), kFiles.end()));
  CHECK(content(path + "/series.csv") == "old");
}

TEST_CASE("results folder: the marker is there while the files are not complete, and goes last") {
  const std::string path = with_results("whole");
  put(path + "/notes.txt", "mine");
  {
    ResultsFolder folder(path, kFiles);
    OutputFile growing(path + "/series.csv");
    folder.begin();
    CHECK(names_in(path) == Names{"INCOMPLETE", "notes.txt", "series.csv", ".weft.lock"});
    CHECK_THAT(content(path + "/INCOMPLETE"), Contains("not complete"));
    growing.write("grown");
    growing.close();
    folder.begin();  // once is enough
    OutputFile summary(path + "/summary.json");
    summary.write("new");
    CHECK_FALSE(fs::exists(path + "/summary.json"));
    summary.close();
    CHECK(content(path + "/summary.json") == "new");
    CHECK(fs::exists(path + "/INCOMPLETE"));
    folder.complete();
    note_end_of_run("told too late");
  }
  CHECK(names_in(path) == Names{"notes.txt", "series.csv", "summary.json"});
  CHECK(content(path + "/series.csv") == "grown");
}

TEST_CASE("results folder: the marker says how a run ended that did not complete") {
  const std::string path = with_results("failed");
  {
    ResultsFolder folder(path, kFiles);
    folder.begin();
    std::thread([] { note_end_of_run("interrupted by SIGTERM"); }).join();
    folder.failed("a.weft: damaged");
  }
  CHECK(names_in(path) == Names{"INCOMPLETE"});
  CHECK_THAT(content(path + "/INCOMPLETE"), Contains("How it ended: interrupted by SIGTERM\n") &&
                                                Contains("How it ended: a.weft: damaged\n"));
  note_end_of_run("no folder is in use");
  {
    ResultsFolder folder(path, kFiles);  // the next run: the marker stays until it has results
    CHECK_THAT(content(path + "/INCOMPLETE"), Contains("SIGTERM"));
    folder.begin();
    CHECK_THAT(content(path + "/INCOMPLETE"), !Contains("SIGTERM"));
    folder.complete();
  }
  CHECK(names_in(path).empty());
}

TEST_CASE("results folder: another run is told who writes there, and changes nothing") {
  const std::string path = with_results("locked");
  const int other = ::open((path + "/.weft.lock").c_str(), O_RDWR | O_CREAT, 0666);
  REQUIRE(::flock(other, LOCK_EX) == 0);
  const std::string part = path + "/.ranks.csv.0123456789abcdef.part";
  put(part, "of the other");
  const Names before = names_in(path);
  CHECK_THROWS_WITH(ResultsFolder(path, kFiles),
                    Contains(path + ": another run is writing its results to this folder"));
  REQUIRE(::write(other, "1234\n", 5) == 5);
  CHECK_THROWS_WITH(ResultsFolder(path, kFiles), Contains("another run (process 1234) is"));
  CHECK(names_in(path) == before);
  CHECK(content(part) == "of the other");
  ::close(other);
  {
    ResultsFolder folder(path, kFiles);
    CHECK(content(path + "/.weft.lock") == std::to_string(::getpid()) + "\n");
    CHECK_FALSE(fs::exists(part));
  }
  CHECK_THROWS_WITH(ResultsFolder(path, kFiles, busy), Contains("another run"));
}

TEST_CASE("results folder: a file system without locks will do") {
  for (const ResultsFolder::Lock lock : {no_locks, unsupported}) {
    const std::string path = with_results("unlocked");
    ResultsFolder folder(path, kFiles, lock);
    folder.begin();
    folder.complete();
    CHECK(names_in(path) == Names{".weft.lock"});
  }
}

TEST_CASE("results folder: one that was made for a run that never began is gone") {
  const std::string path = temporary("unused");
  { ResultsFolder folder(path, kFiles); }
  CHECK_FALSE(fs::exists(path));
  fs::create_directories(path);
  { ResultsFolder folder(path, kFiles); }
  CHECK(fs::exists(path));
}

TEST_CASE("results folder: what can't be written or removed is told with path and reason") {
  put(temporary("file"), "a file");
  const std::string file = fs::path(std::getenv("TEST_TMPDIR")) / "file";
  CHECK_THROWS_WITH(ResultsFolder(file, kFiles), Contains(file + ": can't create this directory: "));
  CHECK_THROWS_WITH(ResultsFolder(file + "/below", kFiles), Contains("can't create this directory"));

  const std::string path = temporary("directory_for_file");
  fs::create_directories(path + "/ranks.csv");
  {
    ResultsFolder folder(path, kFiles);
    CHECK_THROWS_WITH(folder.begin(),
                      Contains(path + "/ranks.csv: can't remove what an earlier run left here: Is a dir"));
  }
  CHECK(names_in(path) == Names{"INCOMPLETE", "ranks.csv"});

  const std::string read_only = with_results("read_only");
  fs::permissions(read_only, fs::perms::owner_read | fs::perms::owner_exec);
  if (::access(read_only.c_str(), W_OK) != 0) {  // else this is root, who may write everywhere
    CHECK_THROWS_WITH(ResultsFolder(read_only, kFiles), Contains("can't write in this directory"));
    CHECK(names_in(read_only).size() == kFiles.size());
  }
  fs::permissions(read_only, fs::perms::owner_all);

  const std::string marker = with_results("marker");
  fs::create_directories(marker + "/INCOMPLETE");
  ResultsFolder folder(marker, kFiles);
  CHECK_THROWS_WITH(folder.begin(), Contains("/INCOMPLETE: can't write the file: "));
  CHECK(content(marker + "/summary.json") == "old");
}

TEST_CASE("results folder: a full device leaves the marker and no part of a file") {
  const std::string path = temporary("full");
  std::signal(SIGXFSZ, SIG_IGN);
  {
    ResultsFolder folder(path, kFiles);
    folder.begin();
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{1} << 20}) {
      const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
      std::string message;
      ::setrlimit(RLIMIT_FSIZE, &none);
      try {
        OutputFile file(path + "/ranks.csv");
        file.write(std::string(bytes, 'x'));
        file.close();
      } catch (const InputError& error) {
        message = error.what();
      }
      ::setrlimit(RLIMIT_FSIZE, &before);
      CHECK(message == path + "/ranks.csv: can't write the file: File too large");
      CHECK(names_in(path) == Names{"INCOMPLETE", ".weft.lock"});
    }
  }
  CHECK(names_in(path) == Names{"INCOMPLETE"});
}

TEST_CASE("results folder: links and other files in the place of the lock are told, and not written to") {
  const std::string path = temporary("foreign_lock"), victim = temporary("victim");
  fs::create_directories(path);
  put(victim, "precious");
  for (const bool symbolic : {true, false}) {
    if (symbolic) {
      fs::create_symlink(victim, path + "/.weft.lock");
    } else {
      fs::create_hard_link(victim, path + "/.weft.lock");
    }
    CHECK_THROWS_WITH(ResultsFolder(path, kFiles), Contains("/.weft.lock"));
    CHECK(content(victim) == "precious");
    fs::remove(path + "/.weft.lock");
  }
}

TEST_CASE("output file: it has its name only when it is closed") {
  const std::string path = temporary("single");
  fs::create_directories(path);
  put(path + "/a.csv", "old");
  {
    OutputFile file(path + "/a.csv");
    file.write("new");
  }  // not closed: it failed
  CHECK(names_in(path) == Names{"a.csv"});
  CHECK(content(path + "/a.csv") == "old");
  OutputFile file(path + "/a.csv");
  file.write("new");
  file.close();
  CHECK(content(path + "/a.csv") == "new");
  fs::create_directories(path + "/b.csv");
  CHECK_THROWS_WITH(OutputFile(path + "/b.csv"), Contains("/b.csv: can't write the file: Is a directory"));
  // The rename fails.
  OutputFile other(path + "/d.csv");
  fs::create_directories(path + "/d.csv");
  CHECK_THROWS_WITH(other.close(), Contains("/d.csv: can't write the file: Is a directory"));
  fs::remove(path + "/d.csv");
  CHECK(names_in(path) == Names{"a.csv", "b.csv"});
  // Everything is gone.
  OutputFile third(path + "/c.csv");
  fs::remove_all(path);
  CHECK_THROWS_AS(third.close(), InputError);
}

}  // namespace weft::results
