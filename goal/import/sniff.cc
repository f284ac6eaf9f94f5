#include "goal/import/sniff.h"

#include <fstream>

#include "sim/units/byte_order_mark.h"

namespace weft::goal {

std::string first_bytes(const std::filesystem::path& path, std::size_t most) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return "";  // a pipe would lose what is looked at
  std::ifstream file(path, std::ios::binary);
  std::string bytes(most, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(most));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  bytes.erase(0, size_of_mark(bytes));  // as FileView leaves it out
  return bytes;
}

bool may_be_json(const std::filesystem::path& path) {
  const std::string head = first_bytes(path, 256);
  if (head.starts_with("\x1f\x8b")) return true;
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  return first != head.npos && (head[first] == '{' || head[first] == '[');
}

}  // namespace weft::goal
