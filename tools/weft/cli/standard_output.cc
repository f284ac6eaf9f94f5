#include "tools/weft/cli/standard_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "sim/units/printable.h"
#include "tools/weft/cli/log.h"

namespace weft::cli {

void hold_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest that is free: this one.
    (void)::open("/dev/null", (descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
  }
}

void print_text(std::string_view text, std::FILE* stream) {
  const std::string shown = printable_text(text);
  std::fwrite(shown.data(), 1, shown.size(), stream);
}

bool finish_output(std::FILE* stream) {
  const bool failed_before = std::ferror(stream) != 0;
  const int error = std::fflush(stream) != 0 ? errno : 0;
  if (error == 0 && !failed_before) return true;
  // What failed before has left no reason.
  log::error("can't write to standard output" + (error == 0 ? "" : std::string(": ") + std::strerror(error)));
  return false;
}

}  // namespace weft::cli
