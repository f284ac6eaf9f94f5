#include "tests/fuzz/trace_files.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "tracer/format/format.h"

namespace weft::fuzz {
namespace {

namespace fs = std::filesystem;

void mend(std::string& bytes, std::size_t begin, std::size_t length, std::size_t checksum_at) {
  const auto* start = reinterpret_cast<const std::uint8_t*>(bytes.data()) + begin;
  trace::put_u32(reinterpret_cast<std::uint8_t*>(bytes.data()) + checksum_at, trace::checksum(start, length));
}

// Puts the right checksums in the place of those that are there; else damage would get no further.
void mend_checksums(std::string& bytes) {
  const auto number_at = [&](std::size_t at) {
    return trace::get_u32(reinterpret_cast<const std::uint8_t*>(bytes.data()) + at);
  };
  constexpr std::size_t kHead = 16;
  if (bytes.size() < kHead + 4) return;
  const std::size_t header = number_at(12);
  if (header > bytes.size() - kHead - 4) return;
  mend(bytes, kHead, header, kHead + header);
  const bool live = number_at(8) >= 2;
  std::size_t at = kHead + header + 4;
  if (live) at = trace::aligned(at) + sizeof(trace::Live);
  while (at + trace::kChunkHeaderBytes < bytes.size()) {
    const std::size_t begin = at + trace::kChunkHeaderBytes, length = number_at(at + 4);
    if (length > bytes.size() - begin) return;
    mend(bytes, begin, length, at + 8);
    at = live ? trace::aligned(begin + length) : begin + length;
  }
}

}  // namespace

// Folders with one to four traces, which are links to files in memory.
TraceFolders::TraceFolders(const std::string& prefix)
    : root_((fs::temp_directory_path() / "weft_fuzz.XXXXXX").string()) {
  if (mkdtemp(root_.data()) == nullptr) throw std::runtime_error("no folder for traces");
  for (std::size_t n = 1; n <= kMostFiles; ++n) {
    fs::create_directory(folder(n));
    for (std::size_t i = 0; i < n; ++i) {
      fs::create_symlink(files_[i].path(), folder(n) + "/" + prefix + std::to_string(i) + ".wtrc");
    }
  }
}

TraceFolders::~TraceFolders() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

std::string TraceFolders::fill(std::string_view bytes) {
  const std::string_view magic(trace::kMagic, sizeof trace::kMagic);
  std::size_t files = 0;
  for (std::size_t at = 0; at < bytes.size() && files < kMostFiles; ++files) {
    const std::size_t end = std::min(bytes.find(magic, at + 1), bytes.size());
    std::string file(bytes.substr(at, end - at));
    mend_checksums(file);
    files_[files].fill(file);
    at = end;
  }
  return files == 0 ? std::string() : folder(files);
}

}  // namespace weft::fuzz
