// Numbers as they lie in the binary file formats: little-endian, unaligned.
#pragma once

#include <bit>
#include <cstring>
#include <string>

namespace weft::goal {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie in memory");

// Reads a T that starts at `bytes`. REQUIRES: sizeof(T) bytes are there, and T is trivially copyable.
template <typename T>
T load(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

// Puts a T behind `bytes`.
template <typename T>
void append(std::string& bytes, const T& value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes.append(raw, sizeof value);
}

}  // namespace weft::goal
