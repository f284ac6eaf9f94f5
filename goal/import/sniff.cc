#include "goal/import/sniff.h"

#include <fstream>

namespace weft::goal {

std::string first_bytes(const std::filesystem::path& path, std::size_t most) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return "";  // a pipe would lose what is looked at
  std::ifstream file(path, std::ios::binary);
  std::string bytes(most, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(most));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

}  // namespace weft::goal
