#include "sim/results/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>

#include "goal/file.h"
#include "sim/results/results_folder.h"
#include "sim/units/input_error.h"

namespace weft::results {

OutputFile::OutputFile(std::string path) : path_(std::move(path)), part_(part_path(path_)) {
  const std::filesystem::path parent = std::filesystem::path(path_).parent_path();
  std::error_code ignored;  // open() says what is wrong
  if (!parent.empty()) std::filesystem::create_directories(parent, ignored);
  file_ = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) fail(errno);
}

OutputFile::~OutputFile() {
  if (file_ < 0) return;
  (void)goal::write_whole(file_, buffer_);
  ::close(file_);
  ::unlink(part_.c_str());
}

void OutputFile::append(fmt::string_view format, fmt::format_args args) {
  fmt::vformat_to(std::back_inserter(buffer_), format, args);
  if (buffer_.size() >= kBufferBytes) flush();
}

void OutputFile::flush() {
  if (!goal::write_whole(file_, buffer_)) fail(errno);
  buffer_.clear();
}

void OutputFile::close() {
  flush();
  const int file = file_;
  file_ = -1;
  int error = ::close(file) == 0 ? 0 : errno;
  if (error == 0 && std::rename(part_.c_str(), path_.c_str()) != 0) {
    error = errno;
    // It has its name already.
    if (error == ENOENT && ::access(path_.c_str(), F_OK) == 0) return;
  }
  if (error == 0) return;
  ::unlink(part_.c_str());
  fail(error);
}

void OutputFile::fail(int error) const {
  throw InputError(fmt::format("{}: can't write this file: {}", path_, std::strerror(error)));
}

}  // namespace weft::results
