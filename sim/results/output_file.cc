#include "sim/results/output_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>

#include "sim/units/input_error.h"

namespace weft::results {

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  const std::filesystem::path parent = std::filesystem::path(path_).parent_path();
  std::error_code ignored;  // fopen says what is wrong
  if (!parent.empty()) std::filesystem::create_directories(parent, ignored);
  file_ = std::fopen(path_.c_str(), "wb");
  if (file_ == nullptr) fail(errno);
  std::setvbuf(file_, nullptr, _IONBF, 0);  // buffer_ is enough
}

OutputFile::~OutputFile() {
  if (file_ == nullptr) return;
  std::fwrite(buffer_.data(), 1, buffer_.size(), file_);
  std::fclose(file_);
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
  if (std::fclose(file) != 0) fail(errno);
}

void OutputFile::fail(int error) const {
  throw InputError(fmt::format("{}: can't write this file: {}", path_, std::strerror(error)));
}

}  // namespace weft::results
