// One subcommand of weft: a file pair, and one line in the list in main.cc.
#pragma once

#include <string>

#include "tools/weft/cli/command.h"

namespace weft::cli {

// Exit statuses of weft; scripts may rely on them.
enum ExitCode : int {
  kOk = 0,
  kInternalError = 1,
  kBadInput = 2,     // a file, flag or scenario the user can mend; also a check that found errors
  kAbnormalEnd = 3,  // the simulation could not go on: deadlock, unmatched messages
  kLimit = 4,        // a limit on time or memory was hit
  // 128 and the number of a signal (130: SIGINT, 143: SIGTERM, 129: SIGHUP): partial results are written.
};

// How to add one: declare `void add_NAME(Command& command, int& exit_code)` in NAME.h and write it in
// NAME.cc. It adds options to `command` and sets command.callback() to do the work. The callback throws
// InputError for bad input (main prints it and exits with kBadInput), and sets exit_code where the end is
// neither kOk nor an error. Keep parsed values alive in a shared_ptr that the callback holds; exit_code
// outlives it.
struct Subcommand {
  std::string name;
  std::string summary;  // one line for `weft --help`
  void (*add)(Command& command, int& exit_code);
};

}  // namespace weft::cli
