// Files that are read and written: none but those meant, and none half.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string>

#include "sim/units/input_error.h"
#include "sim/units/input_file.h"
#include "sim/units/part_file.h"
#include "sim/units/used_files.h"

namespace weft {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;

std::string folder(const std::string& name) {
  const fs::path path = fs::path(std::getenv("TEST_TMPDIR")) / name;
  fs::remove_all(path);
  fs::create_directories(path);
  return path.string();
}

std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::set<std::string> names_in(const std::string& path) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(path)) names.insert(entry.path().filename().string());
  return names;
}

void write(const PartFile& file, const std::string& text) {
  REQUIRE(::write(file.descriptor(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

// How a process ends that does this.
int status_of(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    alarm(20);  // nothing may hang
    work();
    ::_exit(0);  // tidy: exit because a forked test must not go on
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

}  // namespace

TEST_CASE("part file: there whole or not at all, under a name of its own until then") {
  const std::string at = folder("parts"), path = at + "/a";
  put(path, "old");
  std::string first;
  {
    const PartFile file(path);
    first = file.part();
    write(file, "new");
    CHECK(content(path) == "old");
    CHECK(is_part_of(fs::path(first).filename(), "a"));
  }
  CHECK(names_in(at) == std::set<std::string>{"a"});
  PartFile file(path);
  CHECK(file.part() != first);
  write(file, "new");
  file.commit();
  CHECK(content(path) == "new");
  CHECK(names_in(at) == std::set<std::string>{"a"});
  CHECK_THROWS_WITH(PartFile(at), at + ": can't write the file: Is a directory");
  CHECK_THROWS_WITH(PartFile(at + "/no/b"), at + "/no/b: can't write the file: No such file or directory");
  PartFile longest(at + "/" + std::string(255, 'x'));
  longest.commit();
  CHECK(fs::exists(at + "/" + std::string(255, 'x')));
}

TEST_CASE("part file: which names are those of parts") {
  CHECK(is_part_of(".a.0123456789abcdef.part", "a"));
  CHECK_FALSE(is_part_of(".a.0123456789abcdeg.part", "a"));
  CHECK_FALSE(is_part_of(".a.0123456789abcdef.part", "b"));
  CHECK_FALSE(is_part_of(".a.b.0123456789abcdef.part", "a"));
  CHECK_FALSE(is_part_of(".a.part", "a"));
}

TEST_CASE("part file: what a killed process left is removed, and nothing else") {
  const std::string at = folder("abandoned");
  const std::string left = ".a.0123456789abcdef.part", used = ".a.1123456789abcdef.part";
  const std::string linked = ".a.2123456789abcdef.part", other = ".b.0123456789abcdef.part";
  for (const std::string& name : {left, used, other}) put(at + "/" + name, "x");
  fs::create_symlink(at + "/" + other, at + "/" + linked);
  const int user = ::open((at + "/" + used).c_str(), O_RDWR);
  REQUIRE(::flock(user, LOCK_EX | LOCK_NB) == 0);
  PartFile(at + "/a").commit();
  CHECK(names_in(at) == std::set<std::string>{"a", used, linked, other});
  ::close(user);
  // Two at a time leave each other's alone.
  PartFile one(at + "/c"), two(at + "/c");
  CHECK(fs::exists(one.part()));
  CHECK(fs::exists(two.part()));
}

TEST_CASE("part file: it can have its name early, or be left and gone on with") {
  const std::string at = folder("early"), path = at + "/a";
  {
    PartFile file(path, PartFile::Special::kReplace);
    write(file, "1");
    CHECK(name_part(path));
    CHECK(content(path) == "1");
    write(file, "2");
    file.commit();
  }
  CHECK(content(path) == "12");
  CHECK_FALSE(name_part(path));
  {
    PartFile file = PartFile::go_on(path);
    write(file, "3");
    file.leave();
  }
  CHECK(content(path) == "12");
  {
    PartFile file = PartFile::go_on(path);
    CHECK(content(file.part()) == "3");
    file.commit();
  }
  CHECK(content(path) == "3");
  PartFile(path, PartFile::Special::kReplace).leave();
  CHECK(names_in(at).size() == 2);
  remove_part(path);
  CHECK(names_in(at) == std::set<std::string>{"a"});
}

TEST_CASE("part file: devices, FIFOs and descriptors are written to, or replaced where that is asked for") {
  const std::string at = folder("special"), fifo = at + "/fifo";
  PartFile null("/dev/null");
  CHECK(null.part().empty());
  write(null, "gone");
  null.commit();
  CHECK(fs::is_character_file("/dev/null"));
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const int reader = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
  {
    PartFile file(fifo);
    write(file, "through");
    file.commit();
  }
  char got[8] = {};
  CHECK(::read(reader, got, sizeof got) == 7);
  CHECK(std::string(got) == "through");
  ::close(reader);
  CHECK(fs::is_fifo(fifo));
  PartFile(fifo, PartFile::Special::kReplace).commit();
  CHECK(fs::is_regular_file(fifo));
  // A descriptor shares its place in a file with what else is printed there.
  const int shared = ::open((at + "/log").c_str(), O_WRONLY | O_CREAT, 0600);
  REQUIRE(::write(shared, "ab", 2) == 2);
  PartFile file("/dev/fd/" + std::to_string(shared));
  write(file, "cd");
  file.commit();
  REQUIRE(::write(shared, "ef", 2) == 2);
  ::close(shared);
  CHECK(content(at + "/log") == "abcdef");
}

TEST_CASE("part file: signals and other sudden ends leave no part") {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    const std::string at = folder("signals");
    const int status = status_of([&] {
      std::signal(number, SIG_DFL);
      remove_parts_on_signals();
      PartFile one(at + "/one"), two(at + "/two"), named(at + "/named");
      PartFile(at + "/left").leave();
      const RemovedAtEnd lock(at + "/lock");
      put(at + "/lock", "");
      name_part(at + "/named");
      ::raise(number);
    });
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == number);
    CHECK(names_in(at) == std::set<std::string>{"named"});
  }
  const std::string at = folder("ignored");
  const int status = status_of([&] {
    std::signal(SIGHUP, SIG_IGN);  // nohup
    remove_parts_on_signals();
    PartFile one(at + "/one");
    ::raise(SIGHUP);
    one.commit();
  });
  CHECK(status == 0);
  CHECK(names_in(at) == std::set<std::string>{"one"});
}

TEST_CASE("input file: what is no file is told, and nothing waits for it") {
  const std::string at = folder("inputs");
  const auto message = [](const std::string& path) -> std::string {
    try {
      return "read " + read_input(path, 100);
    } catch (const InputError& error) {
      return error.what();
    }
  };
  CHECK(message(at) == at + ": can't read the file: it is a folder");
  CHECK(message(at + "/no") == at + "/no: can't read the file: No such file or directory");
  CHECK(message("/dev/zero") == "/dev/zero: can't read the file: it is a device");
  REQUIRE(::mkfifo((at + "/fifo").c_str(), 0600) == 0);
  CHECK_THAT(message(at + "/fifo"), Contains("/fifo: can't read the file: it is a FIFO"));
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  REQUIRE(::chdir(at.c_str()) == 0);  // the name must be short
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = "socket"};
  REQUIRE(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  CHECK(message("socket") == "socket: can't read the file: it is a socket");
  ::close(socket);
  put(at + "/text", std::string(100, 'x'));
  CHECK(message(at + "/text") == "read " + std::string(100, 'x'));
  put(at + "/text", std::string(101, 'x'));
  CHECK(message(at + "/text") == at + "/text: can't read the file: it is longer than 100 bytes");
  put(at + "/empty", "");
  CHECK(message(at + "/empty") == "read ");
  CHECK_THROWS_WITH(check_input("/dev/null"), Contains("it is a device"));
}

TEST_CASE("input file: a pipe that was given is read, up to a limit that is told") {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1000}, std::size_t{60000}}) {
    int pipe[2];
    REQUIRE(::pipe(pipe) == 0);
    const std::string text(bytes, 'x');
    REQUIRE(::write(pipe[1], text.data(), bytes) == static_cast<ssize_t>(bytes));
    ::close(pipe[1]);
    const std::string path = "/dev/fd/" + std::to_string(pipe[0]);
    if (bytes > 50000) {
      CHECK_THROWS_WITH(read_input(path, 50000),
                        Contains("longer than 50000 bytes, the most that is read of a pipe"));
    } else {
      CHECK(read_input(path, 50000) == text);
    }
    CHECK_THROWS_WITH(check_input(path), Contains("must be a file"));
    ::close(pipe[0]);
  }
}

TEST_CASE("used files: no output takes the place of an input, by whatever name and in either order") {
  const std::string at = folder("both");
  put(at + "/a", "precious");
  fs::create_hard_link(at + "/a", at + "/b");
  fs::create_symlink(at + "/a", at + "/c");
  for (const char* output : {"/a", "/b", "/c"}) {
    const int status = status_of([&] {
      keep_inputs_whole();
      read_input(at + "/a");
      try {
        PartFile file(at + output);
        file.commit();
      } catch (const InputError&) {
        ::_exit(7);  // tidy: exit because a forked test must not go on
      }
    });
    CHECK(WEXITSTATUS(status) == 7);
    CHECK(content(at + "/a") == "precious");
  }
  const int status = status_of([&] {
    keep_inputs_whole();
    const PartFile file(at + "/b");
    try {
      read_input(at + "/a");
    } catch (const InputError&) {
      ::_exit(7);  // tidy: exit because a forked test must not go on
    }
  });
  CHECK(WEXITSTATUS(status) == 7);
  PartFile(at + "/a").commit();  // where nobody asked for it
  CHECK(content(at + "/a").empty());
}

TEST_CASE("used files: what somebody else wrote leads nowhere outside of its folder") {
  const std::string at = folder("foreign"), inside = at + "/run";
  fs::create_directories(inside);
  put(at + "/secret", "secret");
  put(inside + "/mine", "mine");
  fs::create_symlink(at + "/secret", inside + "/link");
  {
    const ForeignPaths foreign(inside);
    CHECK(foreign.read().empty());
    CHECK(read_input(inside + "/mine") == "mine");
    CHECK(foreign.read() == inside + "/mine");
    for (const std::string& path : {at + "/secret", inside + "/link", inside + "/../secret"}) {
      CHECK_THROWS_WITH(read_input(path), Contains("is outside of " + inside));
    }
  }
  {
    const ForeignPaths foreign("");
    CHECK(read_input(at + "/secret") == "secret");
    CHECK(foreign.read() == at + "/secret");
  }
  CHECK(read_input(at + "/secret") == "secret");
}

TEST_CASE("input file: what is in a folder, and folders that can't be read") {
  const std::string at = folder("entries");
  fs::create_directories(at + "/b");
  put(at + "/c", "");
  put(at + "/a", "");
  CHECK(folder_entries(at) == std::vector<fs::path>{at + "/a", at + "/b", at + "/c"});
  CHECK(folder_entries(at + "/b").empty());
  CHECK(folder_entries(at + "/a").empty());
  CHECK(folder_entries(at + "/nothing").empty());
  fs::create_symlink("loop", at + "/loop");
  CHECK_THROWS_WITH(folder_entries(at + "/loop"),
                    at + "/loop: can't read the folder: Too many levels of symbolic links");
}

TEST_CASE("used files: descriptors that have names") {
  CHECK(named_descriptor("/dev/stdin") == 0);
  CHECK(named_descriptor("/dev/fd/63") == 63);
  CHECK(named_descriptor("/proc/self/fd/5") == 5);
  for (const char* path : {"/dev/null", "/dev/fd/", "/dev/fd/x", "/dev/fd/-1", "stdin", ""}) {
    CHECK(named_descriptor(path) == -1);
  }
}

TEST_CASE("texts are read without the byte order mark before them") {
  const std::string at = folder("mark");
  for (const char* text : {"\xEF\xBB\xBFseed: 1", "seed: 1"}) {
    std::ofstream(at + "/marked") << text;
    CHECK(read_input(at + "/marked") == "seed: 1");
  }
}

}  // namespace weft
