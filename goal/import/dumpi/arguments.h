// What the arguments of a DUMPI call mean, for the binary form and the text alike.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "goal/import/dumpi/layout.h"
#include "goal/import/dumpi/objects.h"
#include "goal/import/mpi_calls/call.h"

namespace weft::goal {

// What a file has that calls can't say.
struct DumpiNotes {
  std::uint64_t without_time = 0;      // calls
  std::uint64_t unknown_types = 0;     // uses of datatypes of unknown size, which count as 0 bytes
  std::uint64_t strange_statuses = 0;  // that don't fit the receive, and are not looked at
  std::uint64_t assumed_sizes = 0;     // files without the sizes of datatypes
};

// Gathers the arguments of one call after the other, by the letters of layout.h.
class DumpiArguments {
 public:
  DumpiArguments(Rank world_size, DumpiNotes& notes) : notes_(notes), types_({}), groups_(world_size) {}

  // The file's table of sizes of datatypes.
  void set_sizes(std::vector<std::uint64_t> sizes) { types_ = DumpiTypes(std::move(sizes)); }
  // `number`: the function's among dumpi_functions(). Threads are numbered as they come.
  void begin(MpiCall& call, std::size_t number);
  std::uint32_t thread(std::uint32_t number) {
    return threads_.try_emplace(number, static_cast<std::uint32_t>(threads_.size())).first->second;
  }
  // One number, or one of an array.
  void take(MpiCall& call, char what, std::uint32_t value);
  // An array of indices, or one of the arrays within ranges, which may be empty.
  void begin_array(char what);
  void take_status(const TraceMessage& status, bool cancelled);
  // Does the caller have the arguments that only the root has?
  bool is_root(const MpiCall& call) const;
  void finish(MpiCall& call);
  // No call follows.
  void end() { notes_.unknown_types += types_.unknown(); }

 private:
  void take_of_message(MpiCall& call, char what, std::uint32_t value);
  void take_object(MpiCall& call, char what, std::uint32_t value);
  void finish_types(const MpiCall& call);
  void finish_groups(const MpiCall& call);
  void finish_creation(MpiCall& call);
  void finish_completions(MpiCall& call);
  void complete(MpiCall& call, std::size_t request, std::size_t status);
  void keep_status(MpiCall& call);

  // Those of a call that need each other.
  struct Given {
    std::vector<std::uint64_t> types, receive_types;  // sizes
    std::vector<std::uint32_t> numbers, block_lengths;
    std::vector<std::uint64_t> requests;
    std::vector<std::uint32_t> indices;
    std::vector<std::vector<std::uint32_t>> ranges;
    std::vector<TraceMessage> statuses;
    std::vector<bool> cancelled;
    std::uint32_t block_length = 1, commrank = 0, flag = 1, new_size = 0;
    std::uint16_t taken = 0, made = 0;  // datatypes
    std::uint16_t groups[2] = {}, new_group = 0;
    int groups_taken = 0;
    bool has_indices = false, makes_type = false, makes_group = false, has_size = false, of_world = false;
  };

  DumpiNotes& notes_;
  DumpiTypes types_;
  DumpiGroups groups_;
  std::unordered_map<std::uint32_t, std::uint32_t> threads_;
  std::unordered_map<std::uint64_t, std::uint64_t> posted_bytes_;  // of receives' requests
  Given given_;
};

}  // namespace weft::goal
