#include "goal/file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sim/units/byte_order_mark.h"
#include "sim/units/input_error.h"
#include "sim/units/input_file.h"

namespace weft::goal {
namespace {

constexpr std::size_t kBufferBytes = 1 << 16;

}  // namespace

bool write_whole(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

FileView::FileView(const std::string& path) {
  const InputFile file(path);
  if (file.is_pipe() || file.size() == 0) {
    copy_ = file.read_all();
    data_ = copy_.data();
    size_ = copy_.size();
    mark_ = size_of_mark({data_, size_});
    return;
  }
  size_ = file.size();
  void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (address == MAP_FAILED) {
    throw InputError(SourceLocation{.file = path},
                     std::string("can't read the file: ") + std::strerror(errno));
  }
  ::madvise(address, size_, MADV_SEQUENTIAL);
  data_ = static_cast<const char*>(address);
  mapped_ = true;
  mark_ = size_of_mark({data_, size_});
}

FileView::~FileView() {
  if (mapped_) ::munmap(const_cast<char*>(data_), size_);
}

FileWriter::FileWriter(const std::string& path) : file_(path) { buffer_.reserve(kBufferBytes); }

void FileWriter::write(std::string_view bytes) {
  written_ += bytes.size();
  if (buffer_.size() + bytes.size() > kBufferBytes) flush();
  if (bytes.size() < kBufferBytes) {
    buffer_ += bytes;
  } else {
    write_through(bytes);
  }
}

void FileWriter::write_through(std::string_view bytes) {
  if (!write_whole(file_.descriptor(), bytes)) file_.fail(errno);
}

void FileWriter::flush() {
  write_through(buffer_);
  buffer_.clear();
}

void FileWriter::commit() {
  flush();
  file_.commit();
}

}  // namespace weft::goal
