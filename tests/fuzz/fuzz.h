// What every fuzz target has in common. A target hands bytes to a reader; these functions tell what the
// reader may do with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "sim/units/input_error.h"
#include "sim/units/memory.h"

namespace weft::fuzz {

// Ends the input with a finding. A target lets it through, and whoever runs the target reports it.
class Finding : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};
inline void require(bool holds, const char* what) {
  if (!holds) throw Finding(what);
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// A message must be there, and what the user sees of it one line of bounded length, in UTF-8 and without
// control characters. Throws Finding.
void check_message(std::string_view message);

// What `read` returns (true if that is nothing); nothing where it throws InputError or NotEnoughMemory with a
// fit message. All else it throws comes through: a finding.
template <typename Read>
auto attempt(const Read& read) {
  using Result = std::invoke_result_t<const Read&>;
  constexpr bool kNothing = std::is_void_v<Result>;
  std::optional<std::conditional_t<kNothing, bool, Result>> result;
  try {
    if constexpr (kNothing) {
      read();
      result = true;
    } else {
      result.emplace(read());
    }
  } catch (const InputError& error) {
    check_message(error.what());
  } catch (const NotEnoughMemory& error) {  // before it was taken
    check_message(error.what());
  }
  return result;
}

// The product of all whole numbers in a text, at most 2^64 - 1; zeros don't count. For targets in which a few
// digits would ask, rightly, for gigabytes.
std::uint64_t product_of_numbers(std::string_view text);

// A file in memory, for readers that want a path.
class MemoryFile {
 public:
  MemoryFile();
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  void fill(std::string_view bytes);
  const std::string& path() const { return path_; }

 private:
  int descriptor_;
  std::string path_;
};

}  // namespace weft::fuzz
