#include "sim/results/output_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>

#include "sim/results/results_folder.h"
#include "sim/units/input_error.h"

namespace weft::results {

OutputFile::OutputFile(std::string path) : path_(std::move(path)), part_(part_path(path_)) {
  const std::filesystem::path parent = std::filesystem::path(path_).parent_path();
  std::error_code ignored;  // fopen says what is wrong
  if (!parent.empty()) std::filesystem::create_directories(parent, ignored);
  file_ = std::fopen(part_.c_str(), "wbe");
  if (file_ == nullptr) fail(errno);
  std::setvbuf(file_, nullptr, _IONBF, 0);  // buffer_ is enough
}

OutputFile::~OutputFile() {
  if (file_ == nullptr) return;
  std::fwrite(buffer_.data(), 1, buffer_.size(), file_);
  std::fclose(file_);
  ::unlink(part_.c_str());
}

void OutputFile::append(fmt::string_view format, fmt::format_args args) {
  fmt::vformat_to(std::back_inserter(buffer_), format, args);
  if (buffer_.size() >= kBufferBytes) flush();
}

void OutputFile::flush() {
  if (std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size()) fail(errno);
  buffer_.clear();
}

void OutputFile::close() {
  flush();
  std::FILE* file = file_;
  file_ = nullptr;
  int error = std::fclose(file) == 0 ? 0 : errno;
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
