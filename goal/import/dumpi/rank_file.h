// Reads the binary DUMPI file of one rank.
//
// Source: SST DUMPI 1.0 (Sandia National Laboratories), the trace format of the SST suite.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "goal/file.h"
#include "goal/import/dumpi/arguments.h"
#include "goal/import/mpi_calls/call.h"

namespace weft::goal {

// Does the file begin as one of DUMPI does?
inline constexpr std::string_view kDumpiMagic = "\xff\xaa\xdd\x44UMPI";

class DumpiRankFile : public CallSource {
 public:
  // Throws InputError if the file can't be read, is no DUMPI trace or has no whole index (the program was
  // killed). `notes` gets what is met.
  DumpiRankFile(const std::string& path, Rank world_size, DumpiNotes& notes);

  bool next(MpiCall& call) override;
  SourceLocation location() const override { return {path_, 0, 0, static_cast<std::int64_t>(record_at_)}; }

 private:
  void read_index();
  void read_times(MpiCall& call, std::uint8_t mask);
  void read_arguments(MpiCall& call, const char* layout, std::uint8_t mask);
  void read_array(MpiCall& call, char what);
  void skip(char what);
  void read_statuses();

  std::uint8_t u8();
  std::uint16_t u16();
  std::uint32_t u32();
  std::uint64_t u64();
  // A length of `bytes` each, which must still fit in the file.
  std::uint32_t length(std::uint32_t bytes);
  void skip_bytes(std::uint64_t bytes);
  [[noreturn]] void fail(const std::string& what) const;

  std::string path_;
  FileView file_;
  const std::string_view bytes_;
  DumpiNotes& notes_;
  std::size_t at_ = 0, end_ = 0;  // next byte, and where the stream ends
  std::size_t record_at_ = 0;
  std::array<std::uint8_t, 3> version_{};
  std::uint32_t cpu_offset_ = 0, wall_offset_ = 0;
  std::uint64_t last_second_ = 0, second_wraps_ = 0;
  bool ended_ = false;
  DumpiArguments arguments_;
};

}  // namespace weft::goal
