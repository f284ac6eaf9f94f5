#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#include "sim/units/printable.h"

namespace weft::fuzz {
namespace {

// What printable() leaves at most.
constexpr std::size_t kMostOfMessage = 4000;

}  // namespace

void check_message(std::string_view message) {
  require(!message.empty(), "an error without a message");
  const std::string shown = printable(message);
  require(shown.size() <= kMostOfMessage, "a message that is too long");
  for (const char c : shown) {
    require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F, "a message with control characters");
  }
  require(printable(shown) == shown, "a message that printable() changes twice");
}

std::uint64_t product_of_numbers(std::string_view text) {
  std::uint64_t product = 1;
  for (std::size_t at = 0; at < text.size();) {
    std::uint64_t number = 0;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
      if (__builtin_mul_overflow(number, 10, &number)) return UINT64_MAX;
      number += static_cast<std::uint64_t>(text[at] - '0');
    }
    if (number > 0 && __builtin_mul_overflow(product, number, &product)) return UINT64_MAX;
    if (at < text.size()) ++at;
  }
  return product;
}

MemoryFile::MemoryFile() : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
  if (descriptor_ < 0) throw std::runtime_error("memfd_create failed");
  path_ = "/proc/self/fd/" + std::to_string(descriptor_);
}

MemoryFile::~MemoryFile() { close(descriptor_); }

void MemoryFile::fill(std::string_view bytes) {
  const auto size = static_cast<ssize_t>(bytes.size());
  if (ftruncate(descriptor_, 0) != 0 || pwrite(descriptor_, bytes.data(), bytes.size(), 0) != size) {
    throw std::runtime_error("a file in memory can't be written");
  }
}

}  // namespace weft::fuzz
