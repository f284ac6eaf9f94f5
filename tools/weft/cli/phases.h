// What a long command is doing: for who waits, and for who wants it to end.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace weft::cli {

// While one exists, SIGINT, SIGTERM and SIGHUP end the phase that the command is in: by asking it to stop
// where it can be asked, else the process at once. Either way the process is gone within a second, but for
// the time that writing results takes; a second signal ends it there and then. The exit status is 128 and the
// signal's number. SIGHUP stays ignored where it was (nohup).
//
// Phases that last are told on standard error, on a terminal in a line that is overwritten: how long so far,
// and with how much memory. One at a time in a process.
class Phases {
 public:
  // `says`: tell of phases that last.
  explicit Phases(bool says);
  ~Phases();
  Phases(const Phases&) = delete;
  Phases& operator=(const Phases&) = delete;

  // From now on this is done: "building the network". There is nothing to keep of it if it is cut short.
  void enter(const std::string& what);
  // Enters a phase that can be asked to stop: by `ask`, called from another thread; also every second without
  // a signal, for then it says itself how far it is.
  void enter(const std::string& what, std::function<void()> ask);
  // Enters a phase that is to be finished even after a signal, as it writes down what there is.
  void finish(const std::string& what);
  // Called from another thread when the process is about to end for a signal, with the reason: "interrupted
  // by SIGTERM while building the network".
  void set_last_words(std::function<void(const std::string&)> last_words);

  // What is being done.
  std::string current();

  // The signal that came; 0: none. The last phase was asked to stop by it.
  static int signal();
  // Ends the process, with all that was printed, but without giving its memory back: for gigabytes that takes
  // longer than somebody waits who has interrupted it.
  [[noreturn]] static void leave(int status);

 private:
  enum class Kind { kCutShort, kAsked, kFinished };
  using Clock = std::chrono::steady_clock;
  void begin(const std::string& what, Kind kind, std::function<void()> ask);
  void watch();
  void interrupt();
  [[noreturn]] void end_process();
  void tell();
  void clear_line();

  const bool says_, on_terminal_;
  int wake_ = -1;  // file descriptor that signal handlers and the end write to
  std::mutex mutex_;
  std::string what_;
  Kind kind_ = Kind::kCutShort;
  std::function<void()> ask_;
  std::function<void(const std::string&)> last_words_;
  Clock::time_point entered_;
  Clock::duration tell_after_{};
  bool line_shown_ = false;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

// Resident size of this process now, and its peak, in bytes.
std::uint64_t resident_bytes();
std::uint64_t peak_resident_bytes();

}  // namespace weft::cli
