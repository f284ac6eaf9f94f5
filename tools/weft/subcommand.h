// One subcommand of weft: a file pair, and one line in the list in main.cc.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace weft::cli {

// Exit statuses of weft; scripts may rely on them.
enum ExitCode : int {
  kOk = 0,
  kInternalError = 1,
  kBadInput = 2,       // a file, flag or scenario the user can mend; also a check that found errors
  kAbnormalEnd = 3,    // the simulation could not go on: deadlock, unmatched messages
  kLimit = 4,          // a limit on time or memory was hit
  kInterrupted = 130,  // SIGINT; partial results are written
};

// How to add one: declare `void add_NAME(CLI::App& app, int& exit_code)` in NAME.h and write it in NAME.cc.
// It adds options to `app` and sets app.callback() to do the work; the callback runs after all of the command
// line was read. It throws InputError for bad input (main prints it and exits with kBadInput), and sets
// exit_code where the end is neither kOk nor an error. Keep parsed values alive in a shared_ptr that the
// callback holds. Both arguments outlive the callback.
struct Subcommand {
  std::string name;
  std::string summary;  // one line for `weft --help`
  void (*add)(CLI::App& app, int& exit_code);
};

}  // namespace weft::cli
