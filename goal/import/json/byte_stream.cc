#include "goal/import/json/byte_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "sim/units/byte_order_mark.h"
#include "sim/units/input_file.h"

namespace weft::goal {
namespace {

constexpr std::size_t kPiece = 256 * 1024;

}  // namespace

ByteStream::ByteStream(const std::string& path) : path_(path), buffer_(kPiece) {
  InputFile file(path);
  file_ = gzdopen(file.descriptor(), "rb");
  if (file_ == nullptr) throw std::bad_alloc();  // nothing else keeps it from starting
  (void)file.release();
  gzbuffer(file_, kPiece);
  begin_ = next_ = end_ = counted_ = buffer_.data();
}

ByteStream::ByteStream(std::string_view text, const std::string& name)
    : path_(name), buffer_(text.begin(), text.end()) {
  begin_ = next_ = counted_ = buffer_.data();
  end_ = begin_ + buffer_.size();
}

ByteStream::~ByteStream() {
  if (file_ != nullptr) gzclose(file_);
}

bool ByteStream::refill() {
  if (file_ == nullptr) return false;
  const bool first = base_ == 0 && begin_ == end_;
  line();
  base_ += static_cast<std::uint64_t>(end_ - begin_);
  const int got = gzread(file_, buffer_.data(), static_cast<unsigned>(buffer_.size()));
  int code = Z_OK;
  const char* what = gzerror(file_, &code);
  begin_ = next_ = end_ = counted_ = buffer_.data();
  if (got < 0 || code == Z_BUF_ERROR) {
    throw InputError({.file = path_, .byte_offset = static_cast<std::int64_t>(base_)},
                     code == Z_ERRNO ? fmt::format("can't be read: {}", std::strerror(errno))
                                     : fmt::format("damaged or shortened gzip file ({})", what));
  }
  end_ = begin_ + got;
  if (first) next_ += size_of_mark({begin_, static_cast<std::size_t>(got)});
  return next_ < end_ || (got > 0 && refill());
}

std::size_t ByteStream::read(char* to, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes && !at_end()) {
    const std::size_t here = std::min(bytes - done, static_cast<std::size_t>(end_ - next_));
    std::memcpy(to + done, next_, here);
    next_ += here;
    done += here;
  }
  return done;
}

std::int64_t ByteStream::line() {
  lines_ += std::count(counted_, next_, '\n');
  counted_ = next_;
  return lines_ + 1;
}

SourceLocation ByteStream::location() {
  return {.file = path_, .line = line(), .byte_offset = static_cast<std::int64_t>(position())};
}

}  // namespace weft::goal
