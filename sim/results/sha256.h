// SHA-256: FIPS 180-4, Secure Hash Standard, section 6.2.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft::results {

// Digests a sequence of bytes that comes in pieces.
class Sha256 {
 public:
  void add(std::string_view bytes);
  // The digest as 64 hexadecimal digits. Nothing may be added afterwards.
  std::string finish();

 private:
  void take_block(const unsigned char* block);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> block_{};
  std::size_t held_ = 0;  // bytes in the block
  std::uint64_t bytes_ = 0;
};

// The digest of a regular file; "" if it can't be read to its end.
std::string sha256_of_file(const std::string& path);

}  // namespace weft::results
