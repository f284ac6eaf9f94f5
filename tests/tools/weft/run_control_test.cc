// Progress on standard error where that is a file.
#include "tools/weft/run/run_control.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <string>

#include "tools/weft/cli/phases.h"

namespace weft::cli {
namespace {

// What comes to standard error while it exists.
class Caught {
 public:
  Caught() : file_(std::tmpfile()), before_(dup(STDERR_FILENO)) {
    std::fflush(stderr);
    dup2(fileno(file_), STDERR_FILENO);
  }
  ~Caught() {
    restore();
    std::fclose(file_);
  }
  std::string text() {
    restore();
    std::rewind(file_);
    std::string text;
    for (int c; (c = std::fgetc(file_)) != EOF;) text += static_cast<char>(c);
    return text;
  }

 private:
  void restore() {
    std::fflush(stderr);
    if (before_ >= 0) dup2(before_, STDERR_FILENO);
    if (before_ >= 0) close(before_);
    before_ = -1;
  }
  std::FILE* const file_;
  int before_;
};

// Returns what is said of a run that is polled twice, a quarter and a half of it done.
std::string progress(bool quiet, std::chrono::milliseconds every) {
  Caught caught;
  {
    Phases phases(false);
    TerminalControl control({}, phases, quiet, every);
    double done = 0;
    control.begin([&] { return done; });
    for (const double fraction : {0.25, 0.5}) {
      done = fraction;
      control.poll(Time::us(7), 1000);
    }
    control.end();
  }
  return caught.text();
}

}  // namespace

TEST_CASE("progress: a file gets whole lines, one in each interval") {
  const std::string text = progress(false, std::chrono::milliseconds(0));
  CHECK(text.find("weft:  25.0%  simulated 0.007 ms") == 0);
  CHECK(text.find("\nweft:  50.0%  simulated 0.007 ms") != std::string::npos);
  CHECK(text.back() == '\n');
  CHECK(text.find_first_of("\r\x1b") == std::string::npos);
}

TEST_CASE("progress: nothing before the interval is over, and nothing of a quiet run") {
  CHECK(progress(false, std::chrono::hours(1)).empty());
  CHECK(progress(true, std::chrono::milliseconds(0)).empty());
}

}  // namespace weft::cli
