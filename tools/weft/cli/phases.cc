#include "tools/weft/cli/phases.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <system_error>
#include <utility>

#include "sim/units/input_error.h"
#include "sim/units/part_file.h"
#include "sim/units/printable.h"
#include "tools/weft/cli/log.h"

namespace weft::cli {
namespace {

using std::chrono::milliseconds, std::chrono::seconds;

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
// Who is asked to stop does so before the next event, of which a few take that long.
constexpr milliseconds kPatience{800};
constexpr seconds kOnTerminal{1}, kElsewhere{10};

// Signal handlers can reach nothing but globals.
std::atomic<int> received = 0, wake_descriptor = -1;

void on_signal(int number) {
  int none = 0;
  if (!received.compare_exchange_strong(none, number)) {
    remove_all_parts();
    ::_exit(128 + number);
  }
  const std::uint64_t one = 1;
  (void)!::write(wake_descriptor.load(), &one, sizeof one);
}

std::array<struct sigaction, std::size(kSignals)> usual_actions;

void set_handlers() {
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], nullptr, &usual_actions[i]);
    if (kSignals[i] == SIGHUP && usual_actions[i].sa_handler == SIG_IGN) continue;  // nohup
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigaction(kSignals[i], &action, nullptr);
  }
}

void reset_handlers() {
  for (std::size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &usual_actions[i], nullptr);
}

}  // namespace

std::uint64_t resident_bytes() {
  unsigned long total = 0, resident = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%lu %lu", &total, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return static_cast<std::uint64_t>(resident) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

Phases::Phases(bool says)
    : says_(says), on_terminal_(isatty(STDERR_FILENO) == 1), wake_(::eventfd(0, EFD_CLOEXEC)) {
  if (wake_ < 0) throw InputError(fmt::format("can't watch for signals: {}", std::strerror(errno)));
  received = 0;
  wake_descriptor = wake_;
  try {
    thread_ = std::thread([this] { watch(); });
  } catch (const std::system_error& error) {
    ::close(wake_);
    throw InputError(fmt::format("can't start a thread: {}", error.code().message()));
  }
  set_handlers();
}

Phases::~Phases() {
  reset_handlers();
  over_ = true;
  const std::uint64_t one = 1;
  (void)!::write(wake_, &one, sizeof one);
  thread_.join();
  clear_line();
  ::close(wake_);
}

int Phases::signal() { return received; }

void Phases::leave(int status) {
  std::fflush(nullptr);
  remove_all_parts();
  ::_exit(status);
}

void Phases::enter(const std::string& what) { begin(what, Kind::kCutShort, nullptr); }
void Phases::enter(const std::string& what, std::function<void()> ask) {
  begin(what, Kind::kAsked, std::move(ask));
}
void Phases::finish(const std::string& what) { begin(what, Kind::kFinished, nullptr); }

void Phases::begin(const std::string& what, Kind kind, std::function<void()> ask) {
  const std::lock_guard lock(mutex_);
  clear_line();
  what_ = what;
  kind_ = kind;
  ask_ = std::move(ask);
  entered_ = Clock::now();
  const bool awaited = kind_ == Kind::kFinished && received != 0;  // by who has sent a signal
  tell_after_ = on_terminal_ || awaited ? kOnTerminal : kElsewhere;
  if (received != 0 && kind_ == Kind::kAsked) ask_();
}

std::string Phases::current() {
  const std::lock_guard lock(mutex_);
  return what_;
}

void Phases::set_last_words(std::function<void(const std::string&)> last_words) {
  const std::lock_guard lock(mutex_);
  last_words_ = std::move(last_words);
}

void Phases::watch() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  bool interrupted = false;
  while (!over_) {
    pollfd descriptor{.fd = wake_, .events = POLLIN, .revents = 0};
    ::poll(&descriptor, 1, static_cast<int>(milliseconds(seconds(1)).count()));
    if (over_) return;
    if (received != 0 && !interrupted) {
      interrupted = true;
      std::uint64_t count = 0;
      (void)!::read(wake_, &count, sizeof count);
      interrupt();
    } else {
      tell();
    }
  }
}

// The phase is over once what_ has changed; the lock is not held meanwhile.
void Phases::interrupt() {
  const auto until = Clock::now() + kPatience;
  bool asked = false;
  while (!over_) {
    {
      const std::lock_guard lock(mutex_);
      if (kind_ == Kind::kFinished) {
        tell_after_ = Clock::duration();  // who has sent the signal waits
        return;
      }
      if (kind_ == Kind::kCutShort || Clock::now() >= until) end_process();
      if (!std::exchange(asked, true)) ask_();
    }
    std::this_thread::sleep_for(milliseconds(10));
  }
}

void Phases::end_process() {
  clear_line();
  const int number = received;
  const std::string reason = fmt::format("interrupted by SIG{} while {}", sigabbrev_np(number), what_);
  if (last_words_) last_words_(reason);
  log::error(reason + (kind_ == Kind::kAsked ? ", which did not stop in time; there are no results"
                                             : "; there are no results"));
  remove_all_parts();
  ::_exit(128 + number);
}

void Phases::tell() {
  const std::lock_guard lock(mutex_);
  const Clock::duration lasted = Clock::now() - entered_;
  if (says_ && kind_ == Kind::kAsked) ask_();
  if (!says_ || what_.empty() || kind_ == Kind::kAsked || lasted < tell_after_) return;
  const std::string line =
      fmt::format("{}: {:.0f} s so far, {:.2f} GB of memory{}", printable(what_),
                  std::chrono::duration<double>(lasted).count(), static_cast<double>(resident_bytes()) / 1e9,
                  received != 0 ? "; a second signal ends it at once, incomplete" : "");
  if (on_terminal_) {
    std::fputs(("\r\x1b[K" + line).c_str(), stderr);
    std::fflush(stderr);
    line_shown_ = true;
  } else {
    tell_after_ = 2 * lasted;
    std::fprintf(stderr, "weft: %s\n", line.c_str());
  }
}

void Phases::clear_line() {
  if (line_shown_) std::fputs("\r\x1b[K", stderr);
  line_shown_ = false;
}

}  // namespace weft::cli
