#include "sim/results/output_file.h"

#include <cerrno>
#include <filesystem>
#include <iterator>

#include "goal/file.h"

namespace weft::results {
namespace {

const std::string& with_folders(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  std::error_code ignored;  // who opens the file says what is wrong
  if (!parent.empty()) std::filesystem::create_directories(parent, ignored);
  return path;
}

}  // namespace

OutputFile::OutputFile(const std::string& path, PartFile::Special special)
    : file_(with_folders(path), special) {}

OutputFile::~OutputFile() {
  if (file_.descriptor() >= 0) (void)goal::write_whole(file_.descriptor(), buffer_);
}

void OutputFile::append(fmt::string_view format, fmt::format_args args) {
  fmt::vformat_to(std::back_inserter(buffer_), format, args);
  if (buffer_.size() >= kBufferBytes) flush();
}

void OutputFile::flush() {
  if (!goal::write_whole(file_.descriptor(), buffer_)) file_.fail(errno);
  buffer_.clear();
}

void OutputFile::close() {
  flush();
  file_.commit();
}

}  // namespace weft::results
