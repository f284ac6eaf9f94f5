// Traces of MPI programs: the files of up to four ranks, one behind the other.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "goal/import/mpi/importer.h"
#include "goal/import/mpi/trace_summary.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/graphs.h"
#include "tracer/format/format.h"

using namespace weft;

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 4;

// Folders with one to four traces, which are links to files in memory.
class Folders {
 public:
  Folders() : root_((fs::temp_directory_path() / "weft_fuzz.XXXXXX").string()) {
    if (mkdtemp(root_.data()) == nullptr) throw std::runtime_error("no folder for traces");
    for (std::size_t n = 1; n <= kMostFiles; ++n) {
      fs::create_directory(folder(n));
      for (std::size_t i = 0; i < n; ++i) {
        fs::create_symlink(files_[i].path(), folder(n) + "/rank-00000" + std::to_string(i) + ".wtrc");
      }
    }
  }
  ~Folders() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }

  std::string folder(std::size_t files) const { return root_ + "/" + std::to_string(files); }
  fuzz::MemoryFile& file(std::size_t i) { return files_[i]; }

 private:
  std::string root_;
  std::array<fuzz::MemoryFile, kMostFiles> files_;
};

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

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Folders folders;
  const std::string_view bytes = fuzz::text_of(data, size);
  const std::string_view magic(trace::kMagic, sizeof trace::kMagic);
  std::size_t files = 0;
  for (std::size_t at = 0; at < bytes.size() && files < kMostFiles; ++files) {
    const std::size_t end = std::min(bytes.find(magic, at + 1), bytes.size());
    std::string file(bytes.substr(at, end - at));
    mend_checksums(file);
    folders.file(files).fill(file);
    at = end;
  }
  if (files == 0) return 0;
  const auto summary = fuzz::attempt([&] { return goal::summarize_traces(folders.folder(files)); });
  if (summary && summary->ranks.size() != files) throw std::logic_error("a rank is missing");
  const goal::MpiImportOptions options{.keep_wildcards = size % 2 == 0, .partial = true};
  goal::PackInfo info;
  const auto graph = fuzz::attempt([&] { return goal::import_mpi(folders.folder(files), options, &info); });
  if (graph) fuzz::check_graph(*graph, info);
  return 0;
}
