// What a DUMPI record of each MPI function holds behind its times.
//
// Source: SST DUMPI 1.0 (Sandia National Laboratories), the trace format of the SST suite.
#pragma once

#include <cstdint>
#include <span>

namespace weft::goal {

// A letter an argument, in the order of the file. Integers are big-endian.
//   1 2 4 8     so many bytes, not looked at
//   n t d g     count (32 bits), datatype (16), peer (32), tag (32) of what is sent, or of the only side
//   N T D G     the same of what is received
//   b L         length of a block (32 bits), or of each (array); with n and o: the size of the new datatype
//   o u X Y z   datatype taken, datatype made (16 bits); array of datatypes taken; of received types; its
//   size m h e       communicator (16 bits); that of a group asked for; new communicator p P         group
//   taken, group made (16 bits) q Q         request (32 bits), array of requests f i I s     flag, index,
//   array of indices, statuses r c k       root, color, key (32 bits) a A B E     array of 32-bit numbers,
//   looked at; not; array of such arrays; array of bytes S Z 3       text; array of texts; array of such
//   arrays V W         array of counts sent to each; received from each R ?         the caller's rank in the
//   communicator (32 bits); the next one is there only at the root
struct DumpiFunction {
  const char* name;    // "MPI_Send"
  const char* layout;  // null: no tracer writes it
};

// By number. The waits for files' requests (DUMPIO_*) are called MPI_File_*.
std::span<const DumpiFunction> dumpi_functions();

// Records that are no calls, behind the last function.
inline constexpr std::uint16_t kDumpiFunctionEnter = 291, kDumpiFunctionExit = 292, kDumpiEnd = 293;

}  // namespace weft::goal
