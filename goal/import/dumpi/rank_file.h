// Reads the binary DUMPI file of one rank.
//
// Source: SST DUMPI 1.0 (Sandia National Laboratories), the trace format of the SST suite.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "goal/file.h"
#include "goal/import/dumpi/objects.h"
#include "goal/import/mpi_calls/call.h"

namespace weft::goal {

// Does the file begin as one of DUMPI does?
inline constexpr std::string_view kDumpiMagic = "\xff\xaa\xdd\x44UMPI";

// What a file has that calls can't say.
struct DumpiNotes {
  std::uint64_t without_time = 0;      // calls
  std::uint64_t unknown_types = 0;     // uses of datatypes of unknown size, which count as 0 bytes
  std::uint64_t strange_statuses = 0;  // that don't fit the receive, and are not looked at
};

class DumpiRankFile : public CallSource {
 public:
  // Throws InputError if the file can't be read, is no DUMPI trace or has no whole index (the program was
  // killed). `notes` gets what is met.
  DumpiRankFile(const std::string& path, Rank world_size, DumpiNotes& notes);

  bool next(MpiCall& call) override;
  SourceLocation location() const override { return {path_, 0, 0, static_cast<std::int64_t>(record_at_)}; }

 private:
  // The arguments of a record that need each other.
  struct Arguments {
    std::vector<std::uint64_t> types, receive_types;  // sizes
    std::vector<std::uint32_t> numbers, block_lengths;
    std::vector<std::uint64_t> requests;
    std::vector<std::uint32_t> indices;
    std::vector<std::vector<std::uint32_t>> ranges;
    std::vector<TraceMessage> statuses;
    std::vector<bool> cancelled;
    std::uint32_t block_length = 1, commrank = 0, flag = 1, index = 0, new_size = 0;
    std::uint16_t taken = 0, made = 0;  // datatypes
    std::uint16_t groups[2] = {}, new_group = 0;
    int groups_taken = 0;
    bool has_types = false, has_status = false, has_indices = false, makes_type = false, makes_group = false;
    bool has_size = false, of_world = false;
  };

  void read_index();
  void read_times(MpiCall& call, std::uint8_t mask);
  void read_arguments(MpiCall& call, const char* layout, std::uint8_t mask);
  void read_message_argument(MpiCall& call, char what);
  void read_object_argument(MpiCall& call, char what);
  void read_array(MpiCall& call, char what);
  void skip(char what);
  void read_statuses();
  void finish_call(MpiCall& call);
  void finish_types(const MpiCall& call);
  void finish_groups(const MpiCall& call);
  void finish_creation(MpiCall& call);
  void finish_completions(MpiCall& call);
  void complete(MpiCall& call, std::size_t request, std::size_t status);
  void keep_status(MpiCall& call);

  std::uint8_t u8();
  std::uint16_t u16();
  std::uint32_t u32();
  std::uint64_t u64();
  // A length of `bytes` each, which must still fit in the file.
  std::uint32_t length(std::uint32_t bytes);
  void skip_bytes(std::uint64_t bytes);
  std::uint64_t comm_handle(std::uint16_t number) const;
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
  DumpiTypes types_;
  DumpiGroups groups_;
  std::unordered_map<std::uint16_t, std::uint32_t> threads_;
  std::unordered_map<std::uint64_t, std::uint64_t> posted_bytes_;  // of receives' requests
  Arguments arguments_;
};

}  // namespace weft::goal
