#include "goal/binary/binary.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "goal/file.h"
#include "goal/raw_bytes.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

constexpr std::uint64_t kHeaderBytes = 14;
constexpr std::uint64_t kRangeBytes = 16;  // begin and end of a rank
constexpr std::uint64_t kOffsetBase = 8;   // a rank's begin and end count from here
constexpr std::uint64_t kNodeBytes = 39;

// The 39 bytes of one operation.
struct Node {
  std::uint32_t dependencies;
  std::uint8_t type;
  std::uint32_t peer;
  std::uint64_t size;
  std::uint32_t tag;
  std::uint8_t cpu, nic;
  std::uint32_t successors, first_successor;              // requires
  std::uint32_t start_successors, first_start_successor;  // irequires

  explicit Node(const char* at)
      : dependencies(load<std::uint32_t>(at)),
        type(load<std::uint8_t>(at + 4)),
        peer(load<std::uint32_t>(at + 5)),
        size(load<std::uint64_t>(at + 9)),
        tag(load<std::uint32_t>(at + 17)),
        cpu(load<std::uint8_t>(at + 21)),
        nic(load<std::uint8_t>(at + 22)),
        successors(load<std::uint32_t>(at + 23)),
        first_successor(load<std::uint32_t>(at + 27)),
        start_successors(load<std::uint32_t>(at + 31)),
        first_start_successor(load<std::uint32_t>(at + 35)) {}
};

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& file_name) : bytes_(bytes), file_name_(file_name) {}

  Graph read() {
    need(0, kHeaderBytes, "the header");
    const auto magic = load<std::uint64_t>(bytes_.data());
    if (magic == kBinaryMagicSpent) {
      fail(0,
           "this binary GOAL was spoiled by a simulator run with --save-mem (magic number 2342); convert the "
           "text again");
    }
    if (magic != kBinaryMagic)
      fail(0, "found the magic number " + std::to_string(magic) + "; binary GOAL has 4223");
    ranks_ = load<std::uint32_t>(bytes_.data() + 8);
    need(kHeaderBytes, ranks_ * kRangeBytes, "the table of " + std::to_string(ranks_) + " ranks");
    std::uint64_t begin = kHeaderBytes + ranks_ * kRangeBytes;
    for (Rank rank = 0; rank < ranks_; ++rank) begin = read_rank(rank, begin);
    if (begin != bytes_.size()) {
      fail(begin, std::to_string(bytes_.size() - begin) + " bytes stand behind the data of the last rank");
    }
    return builder_.finish();
  }

 private:
  [[noreturn]] void fail(std::uint64_t offset, const std::string& message) const {
    throw InputError(SourceLocation{.file = file_name_, .byte_offset = static_cast<std::int64_t>(offset)},
                     message);
  }
  static std::string of(Rank rank) { return " of rank " + std::to_string(rank); }

  void need(std::uint64_t offset, std::uint64_t count, const std::string& what) const {
    if (offset <= bytes_.size() && count <= bytes_.size() - offset) return;
    fail(bytes_.size(), "the file ends within " + what + ": " + std::to_string(count) +
                            " bytes are needed from byte " + std::to_string(offset));
  }

  // Reads the rank whose data may not begin before `earliest`; returns where they end.
  std::uint64_t read_rank(Rank rank, std::uint64_t earliest) {
    const std::uint64_t entry = kHeaderBytes + rank * kRangeBytes;
    const auto relative_begin = load<std::uint64_t>(bytes_.data() + entry);
    const auto relative_end = load<std::uint64_t>(bytes_.data() + entry + 8);
    if (relative_begin < earliest - kOffsetBase || relative_end < relative_begin) {
      fail(entry, "the data" + of(rank) + " lie from " + std::to_string(relative_begin) + " to " +
                      std::to_string(relative_end) + "; expected them at " +
                      std::to_string(earliest - kOffsetBase) + " or behind");
    }
    if (relative_end > bytes_.size() - kOffsetBase) {
      fail(bytes_.size(), "the file ends within the data" + of(rank) + ": they end at byte " +
                              std::to_string(relative_end) + " + 8");
    }
    const std::uint64_t begin = relative_begin + kOffsetBase, end = relative_end + kOffsetBase;
    if (end - begin < 8) fail(begin, "the data" + of(rank) + " are shorter than their 8 byte head");
    const auto nodes = load<std::uint32_t>(bytes_.data() + begin);
    const auto roots = load<std::uint32_t>(bytes_.data() + begin + 4);
    const std::uint64_t first_node = begin + 8 + std::uint64_t{roots} * 4;
    const std::uint64_t appendix = first_node + nodes * kNodeBytes;
    if (roots > nodes || appendix > end || (end - appendix) % 4 != 0) {
      fail(begin, std::to_string(nodes) + " operations and " + std::to_string(roots) +
                      " roots do not fit the " + std::to_string(end - begin) + " bytes" + of(rank));
    }
    const std::uint64_t entries = (end - appendix) / 4;
    dependencies_.assign(nodes, 0);
    std::uint64_t used = 0;
    for (OpIndex i = 0; i < nodes; ++i) {
      const std::uint64_t at = first_node + i * kNodeBytes;
      const Node node(bytes_.data() + at);
      add_op(rank, node, at);
      used += std::uint64_t{node.successors} + node.start_successors;
      if (used > entries) {
        fail(at + 23,
             "operation " + std::to_string(i) + of(rank) + " has more successors than the file holds");
      }
      add_edges(rank, i, nodes, appendix, entries, node.first_successor, node.successors, false, at + 23);
      add_edges(rank, i, nodes, appendix, entries, node.first_start_successor, node.start_successors, true,
                at + 31);
    }
    if (used != entries) {
      fail(appendix, "the operations" + of(rank) + " have " + std::to_string(used) +
                         " successors, but the file holds " + std::to_string(entries));
    }
    check_counts(rank, begin, nodes, roots, first_node);
    builder_.end_rank();
    return end;
  }

  void add_op(Rank rank, const Node& node, std::uint64_t at) {
    if (node.type < 1 || node.type > 3) {
      fail(at + 4, "found an operation of type " + std::to_string(node.type) + of(rank) +
                       "; expected 1 (send), 2 (recv) or 3 (calc)");
    }
    const auto kind = static_cast<OpKind>(node.type);
    if (kind == OpKind::kCalc) {
      builder_.add_calc(node.size, node.cpu);
      return;
    }
    if (node.peer >= ranks_ && !(kind == OpKind::kRecv && node.peer == kAny)) {
      fail(at + 5, std::string("found a ") + (kind == OpKind::kSend ? "send" : "recv") + of(rank) +
                       " with the peer " + std::to_string(node.peer) + "; expected a rank below " +
                       std::to_string(ranks_));
    }
    builder_.add({kind, node.nic, node.cpu, node.peer, node.tag, kWorld, node.size});
  }

  void add_edges(Rank rank, OpIndex first, std::uint32_t nodes, std::uint64_t appendix, std::uint64_t entries,
                 std::uint64_t index, std::uint64_t count, bool on_start, std::uint64_t at) {
    if (count != 0 && (index > entries || count > entries - index)) {
      fail(at, "the successors of operation " + std::to_string(first) + of(rank) +
                   " lie outside the rank's " + std::to_string(entries));
    }
    for (std::uint64_t e = index; e < index + count; ++e) {
      const auto dependent = load<std::uint32_t>(bytes_.data() + appendix + 4 * e);
      if (dependent >= nodes) {
        fail(appendix + 4 * e, "operation " + std::to_string(first) + of(rank) + " has the successor " +
                                   std::to_string(dependent) + "; expected one below " +
                                   std::to_string(nodes));
      }
      ++dependencies_[dependent];
      builder_.add_edge(first, dependent, on_start);
    }
  }

  // The counts and the root list repeat what the successors say; a simulator that trusts them would hang.
  void check_counts(Rank rank, std::uint64_t begin, std::uint32_t nodes, std::uint32_t roots,
                    std::uint64_t first_node) {
    std::uint32_t root = 0;
    for (OpIndex i = 0; i < nodes; ++i) {
      const std::uint64_t at = first_node + i * kNodeBytes;
      const auto claimed = load<std::uint32_t>(bytes_.data() + at);
      if (claimed != dependencies_[i]) {
        fail(at, "operation " + std::to_string(i) + of(rank) + " claims " + std::to_string(claimed) +
                     " dependencies, but is the successor of " + std::to_string(dependencies_[i]));
      }
      if (claimed != 0) continue;
      const std::uint64_t entry = begin + 8 + std::uint64_t{root} * 4;
      if (root == roots || load<std::uint32_t>(bytes_.data() + entry) != i) {
        fail(entry, "the list of roots" + of(rank) + " should have operation " + std::to_string(i) + " here");
      }
      ++root;
    }
    if (root != roots) {
      fail(begin + 4, "rank " + std::to_string(rank) + " lists " + std::to_string(roots) +
                          " roots, but has " + std::to_string(root));
    }
  }

  std::string_view bytes_;
  const std::string& file_name_;
  Rank ranks_ = 0;
  GraphBuilder builder_;
  std::vector<std::uint32_t> dependencies_;
};

// --- writing ---

void check_representable(Rank rank, const RankView& view) {
  for (OpIndex i = 0; i < view.ops(); ++i) {
    const char* reason = view.kind(i) == OpKind::kCollective ? "collective operations"
                         : view.comm(i) != kWorld            ? "communicators"
                         : view.op(i).kind.synchronous()     ? "synchronous sends"
                         : view.cpu(i) > 0xFF                ? "a cpu above 255"
                                                             : nullptr;
    if (reason == nullptr) continue;
    const std::string label(view.label(i));
    throw InputError("binary GOAL can't hold " + std::string(reason) + ": operation " + std::to_string(i) +
                     (label.empty() ? "" : " ('" + label + "')") + " of rank " + std::to_string(rank));
  }
}

std::uint32_t count_roots(const std::vector<std::uint32_t>& dependencies) {
  std::uint32_t roots = 0;
  for (const std::uint32_t count : dependencies) roots += count == 0;
  return roots;
}

void append_rank(std::string& bytes, const RankView& view) {
  const std::vector<std::uint32_t> dependencies = view.dependency_counts();
  append<std::uint32_t>(bytes, view.ops());
  append(bytes, count_roots(dependencies));
  for (OpIndex i = 0; i < view.ops(); ++i) {
    if (dependencies[i] == 0) append(bytes, i);
  }
  std::uint32_t successor = 0;
  for (OpIndex i = 0; i < view.ops(); ++i) {
    std::uint32_t on_start = 0;
    for (const Edge& edge : view.dependents(i)) on_start += edge.on_start();
    const std::uint32_t on_finish = static_cast<std::uint32_t>(view.dependents(i).size()) - on_start;
    append(bytes, dependencies[i]);
    append(bytes, static_cast<std::uint8_t>(view.kind(i)));
    append(bytes, view.peer(i));
    append(bytes, view.value(i));
    append(bytes, view.tag(i));
    append(bytes, static_cast<std::uint8_t>(view.cpu(i)));
    append(bytes, view.nic(i));
    append(bytes, on_finish);
    append(bytes, successor);
    append(bytes, on_start);
    append(bytes, successor + on_finish);
    successor += on_finish + on_start;
  }
  for (OpIndex i = 0; i < view.ops(); ++i) {
    for (const bool on_start : {false, true}) {
      for (const Edge& edge : view.dependents(i)) {
        if (edge.on_start() == on_start) append<std::uint32_t>(bytes, edge.dependent());
      }
    }
  }
}

// Goes over the ranks twice: what stands in front says where each begins.
void write(RankSource& graph, const std::function<void(std::string_view)>& sink) {
  std::uint16_t max_cpu = 0;
  std::uint8_t max_nic = 0;
  std::string ranges;
  std::uint64_t offset = kHeaderBytes - kOffsetBase + graph.ranks() * kRangeBytes;
  for (Rank rank = 0; rank < graph.ranks(); ++rank) {
    const RankView view = graph.rank(rank);
    check_representable(rank, view);
    for (OpIndex i = 0; i < view.ops(); ++i) {
      max_cpu = std::max(max_cpu, view.cpu(i));
      max_nic = std::max(max_nic, view.nic(i));
    }
    append(ranges, offset);
    offset += 8 + 4 * std::uint64_t{count_roots(view.dependency_counts())} + kNodeBytes * view.ops() +
              4 * view.edges();
    append(ranges, offset);
  }
  std::string bytes;
  append(bytes, kBinaryMagic);
  append<std::uint32_t>(bytes, graph.ranks());
  append(bytes, static_cast<std::uint8_t>(max_cpu));
  append(bytes, max_nic);
  sink(bytes);
  sink(ranges);
  for (Rank rank = 0; rank < graph.ranks(); ++rank) {
    bytes.clear();
    append_rank(bytes, graph.rank(rank));
    sink(bytes);
  }
}

}  // namespace

Graph parse_binary(std::string_view bytes, const std::string& file_name) {
  return Reader(bytes, file_name).read();
}

std::string to_binary(const Graph& graph) {
  std::string bytes;
  GraphRanks ranks(graph);
  write(ranks, [&](std::string_view piece) { bytes += piece; });
  return bytes;
}

void write_binary_file(const Graph& graph, const std::string& path) {
  GraphRanks ranks(graph);
  write_binary_file(ranks, path);
}

void write_binary_file(RankSource& graph, const std::string& path) {
  FileWriter file(path);
  write(graph, [&](std::string_view piece) { file.write(piece); });
  file.commit();
}

}  // namespace weft::goal
