// Storage Performance Council block traces: one I/O a line.
//
// Source: Storage Performance Council, "SPC Trace File Format Specification", revision 1.0.1 (2002).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::goal {

// One I/O, 32 bytes.
struct SpcIo {
  std::uint64_t address = 0;  // in blocks (LBA) within the application storage unit
  std::uint64_t start_ns = 0;
  std::uint32_t unit = 0;   // ASU
  std::uint32_t bytes = 0;  // at most kMostIoBytes
  bool write = false;
};

inline constexpr std::uint32_t kMostIoBytes = 1u << 30;

struct SpcTrace {
  std::vector<SpcIo> ios;           // by start, those of one time in the order of the file
  std::uint64_t empty = 0;          // I/Os of 0 bytes, left out
  std::uint64_t early = 0;          // lines with an earlier time than the line before them
  std::uint64_t with_optional = 0;  // lines with fields behind the timestamp, which are not looked at
};

// Is it "ASU,LBA,Size,Opcode,Timestamp[,…]"?
bool is_spc_line(std::string_view line);

// Throws InputError with line and column for anything that is not of that form; `file_name` is for messages.
SpcTrace parse_spc(std::string_view text, const std::string& file_name);

}  // namespace weft::goal
