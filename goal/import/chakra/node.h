// A node of a Chakra execution trace, whatever form it was written in.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "goal/import/unread.h"
#include "sim/units/input_error.h"

namespace weft::goal {

// Numbers are those of the schema (goal/chakra/chakra.proto). What is not said is empty.
struct ChakraNode {
  std::uint64_t id = 0;
  std::string name;
  int type = 0;  // NodeType
  std::vector<std::uint64_t> ctrl_deps, data_deps;
  std::uint64_t ns = 0;     // of compute
  bool tells_time = false;  // protobuf has 0 for a time that is not told, JSON nothing or null
  std::optional<bool> is_cpu_op;
  std::optional<std::int64_t> comm_type;  // CollectiveCommType
  std::optional<std::int64_t> comm_size, comm_src, comm_dst, comm_tag, num_ops, tensor_size, stream;
  std::string pg_name;
  bool involves_part = false;  // involved_dim leaves out a dimension of the machine
  // Files that we wrote ourselves have these (goal/chakra/README.md).
  std::optional<std::int64_t> cpu, nic, root, element_bytes, block_bytes;
  std::vector<std::uint64_t> counts, receive_counts, start_deps;
  std::optional<std::vector<std::uint64_t>> end_deps;
  std::optional<bool> v_form;  // there for what has counts of its own for each rank
  std::string algorithm;
  bool synchronous = false;  // a send that shakes hands whatever its size
};

// Reads a rank's file, protobuf or JSON, either plain or gzip, found out by content; hands on node by node.
// Throws InputError with the byte or line, for damage, for values that are none of what their names want, and
// for what goes past 64 MiB in a node. Adds attributes that are not read to `unread`, unless it's null.
void read_chakra(const std::string& path, const std::function<void(ChakraNode&, const SourceLocation&)>& take,
                 Unread* unread = nullptr);

// Does it say that STAGE wrote it, the generator of ASTRA-sim's authors, whose sizes count elements? Throws
// InputError if the file can't be read; what else is wrong with it is read_chakra()'s to say.
bool is_of_stage(const std::string& path);

// Do its first bytes look like one? Its name counts too for the protobuf form.
bool looks_like_chakra(const std::string& path);

}  // namespace weft::goal
