#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "goal/file.h"
#include "goal/text/label_table.h"
#include "goal/text/text.h"

namespace weft::goal {
namespace {

bool is_label(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (text.empty() || !letter(text[0])) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

class Printer {
 public:
  // Without a graph it prints operations alone.
  Printer(RankSource* graph, const TextSink& sink) : graph_(graph), sink_(sink) {}

  void header() {
    put("num_ranks ").put(graph_->ranks()).put("\n");
    const std::vector<Communicator>& communicators = graph_->communicators();
    for (std::size_t i = 1; i < communicators.size(); ++i) communicator(i, communicators[i]);
  }

  void rank(Rank r) {
    const RankView view = graph_->rank(r);
    name_ops(view);
    place_edges(view);
    put("rank ").put(r).put(" {\n");
    std::size_t edge = 0;
    for (OpIndex i = 0; i < view.ops(); ++i) {
      if (const std::string_view label = shown_label(view, i); !label.empty()) put(label).put(": ");
      op(view.op(i), view.kind(i) == OpKind::kCollective ? &graph_->collectives()[view.peer(i)] : nullptr);
      put("\n");
      for (; edge < placed_end_[i]; ++edge) {
        put(shown_label(view, placed_[edge].edge.dependent()));
        put(placed_[edge].edge.on_start() ? " irequires " : " requires ");
        put(shown_label(view, placed_[edge].first)).put("\n");
      }
      if (buffer_.size() >= kFlush) flush();
    }
    put("}\n");
  }

  // `of` is needed for collectives only.
  void op(const Op& op, const Collective* of) {
    switch (op.kind) {
      case OpKind::kCalc:
        put("calc ").put(op.value);
        break;
      case OpKind::kSend:
        put("send ").put(op.value).put("b to ").put(op.peer);
        break;
      case OpKind::kRecv:
        put("recv ").put(op.value).put("b from ").put_or_any(op.peer);
        break;
      case OpKind::kCollective:
        collective(*of);
        break;
    }
    const bool is_message = op.kind == OpKind::kSend || op.kind == OpKind::kRecv;
    if (is_message && op.tag != 0) put(" tag ").put_or_any(op.tag);
    if (op.cpu != 0) put(" cpu ").put(op.cpu);
    if (op.nic != 0) put(" nic ").put(op.nic);
    if (op.comm != kWorld) put(" comm ").put(op.comm);
    if (op.kind.synchronous()) put(" sync");
  }

  Printer& put(std::string_view text) {
    buffer_.append(text);
    return *this;
  }
  Printer& put(std::uint64_t value) {
    char digits[20];
    const auto result = std::to_chars(digits, digits + sizeof digits, value);
    buffer_.append(digits, result.ptr);
    return *this;
  }
  Printer& put_or_any(std::uint32_t value) { return value == kAny ? put("-1") : put(value); }

  void flush() {
    if (!buffer_.empty()) sink_(buffer_);
    buffer_.clear();
  }

 private:
  static constexpr std::size_t kFlush = 1 << 16;

  struct PlacedEdge {
    OpIndex first;
    Edge edge;
  };

  void communicator(std::size_t index, const Communicator& communicator) {
    put("comm ").put(index);
    if (!communicator.name.empty()) quoted(communicator.name);
    const std::vector<Rank>& ranks = communicator.ranks;
    if (ranks.empty()) {
      put(" all\n");
      return;
    }
    put(" {");
    for (std::size_t i = 0; i < ranks.size();) {
      std::size_t last = i;
      while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
      if (last < i + 2) last = i;  // a range of two saves nothing
      put(" ").put(ranks[i]);
      if (last > i) put("-").put(ranks[last]);
      i = last + 1;
    }
    put(" }\n");
  }

  void quoted(std::string_view text) {
    put(" \"");
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        put("\\").put(std::string_view(&c, 1));
      } else if (byte < 0x20 || byte == 0x7F) {
        constexpr std::string_view kHex = "0123456789abcdef";
        put("\\x").put(kHex.substr(byte / 16, 1)).put(kHex.substr(byte % 16, 1));
      } else {
        put(std::string_view(&c, 1));
      }
    }
    put("\"");
  }

  void collective(const Collective& collective) {
    const CollectiveKind kind = collective.kind;
    put(name(kind));
    const bool both_ways = kind == CollectiveKind::kAlltoall || kind == CollectiveKind::kNeighborAlltoall;
    const bool is_list = !collective.counts.empty() || (both_ways && !collective.receive_counts.empty());
    if (is_list) {
      byte_list(collective.counts);
    } else if (kind != CollectiveKind::kBarrier) {
      put(" ").put(collective.bytes).put("b");
    }
    if (both_ways ? is_list : !collective.receive_counts.empty()) {
      put(" receives");
      byte_list(collective.receive_counts);
    }
    if (is_of_neighbors(kind)) {
      put(" to");
      rank_list(collective.destinations);
      put(" from");
      rank_list(collective.sources);
    }
    if (has_root(kind) || collective.root != 0) put(" root ").put(collective.root);
    if (collective.element_bytes != 1) put(" elem ").put(collective.element_bytes);
    if (collective.v_form) put(" v");
    if (!collective.algorithm.empty()) put(" by ").put(collective.algorithm);
  }
  void rank_list(const std::vector<std::uint32_t>& ranks) {
    put(" [");
    for (std::size_t i = 0; i < ranks.size(); ++i) put(i == 0 ? "" : " ").put(ranks[i]);
    put("]");
  }
  void byte_list(const std::vector<std::uint64_t>& counts) {
    put(" [");
    for (std::size_t i = 0; i < counts.size(); ++i) put(i == 0 ? "" : " ").put(counts[i]);
    put("]b");
  }

  // --- labels ---

  std::string_view shown_label(const RankView& view, OpIndex i) const {
    return made_.empty() || made_[i].empty() ? view.label(i) : std::string_view(made_[i]);
  }

  // Makes labels for operations that have an edge but no usable label of their own. made_ stays empty for
  // the usual case that every label is there and fine, or needs_ says that none is wanted.
  void name_ops(const RankView& view) {
    made_.clear();
    labels_.clear();
    needs_.assign(view.ops(), false);
    for (OpIndex i = 0; i < view.ops(); ++i) {
      for (const Edge& edge : view.dependents(i)) needs_[i] = needs_[edge.dependent()] = true;
    }
    lacking_.clear();
    for (OpIndex i = 0; i < view.ops(); ++i) {
      const std::string_view label = view.label(i);
      const bool usable = is_label(label) && labels_.insert(label, i);
      // An unusable label must be replaced even where none is needed: it can't be printed.
      if (!usable && (needs_[i] || !label.empty())) lacking_.push_back(i);
    }
    if (lacking_.empty()) return;
    made_.resize(view.ops());
    for (const OpIndex i : lacking_) {
      made_[i] = "l" + std::to_string(std::uint64_t{i} + 1);
      while (labels_.find(made_[i]) != LabelTable::kNone) made_[i] += '_';
    }
  }

  // --- dependencies ---

  // A dependency is written as soon as both its operations are, but never before one that precedes it in the
  // dependents of the same operation: the order of the lines is the order of the edges.
  void place_edges(const RankView& view) {
    placed_end_.assign(view.ops(), 0);
    place_.clear();
    for (OpIndex i = 0; i < view.ops(); ++i) {
      OpIndex place = i;
      for (const Edge& edge : view.dependents(i)) {
        place = std::max(place, edge.dependent());
        place_.push_back(place);
        ++placed_end_[place];
      }
    }
    // A stable counting sort by place: placed_end_[p] moves from the begin of p's edges to their end.
    std::uint64_t begin = 0;
    for (std::uint64_t& count : placed_end_) begin += std::exchange(count, begin);
    placed_.resize(place_.size(), {0, Edge(0, false)});
    std::size_t next = 0;
    for (OpIndex i = 0; i < view.ops(); ++i) {
      for (const Edge& edge : view.dependents(i)) placed_[placed_end_[place_[next++]]++] = {i, edge};
    }
  }

  RankSource* const graph_;
  const TextSink& sink_;
  std::string buffer_;
  LabelTable labels_;
  std::vector<bool> needs_;
  std::vector<OpIndex> lacking_;
  std::vector<std::string> made_;
  std::vector<OpIndex> place_;
  std::vector<std::uint64_t> placed_end_;
  std::vector<PlacedEdge> placed_;
};

}  // namespace

void print_text(const Graph& graph, const TextSink& sink) {
  GraphRanks ranks(graph);
  print_text(ranks, sink);
}

void print_text(RankSource& graph, const TextSink& sink) {
  Printer printer(&graph, sink);
  printer.header();
  for (Rank rank = 0; rank < graph.ranks(); ++rank) {
    printer.put("\n");
    printer.rank(rank);
  }
  printer.flush();
}

void print_rank(RankSource& graph, Rank rank, const TextSink& sink) {
  Printer printer(&graph, sink);
  printer.rank(rank);
  printer.flush();
}

std::string to_text(const Graph& graph) {
  std::string text;
  print_text(graph, [&](std::string_view piece) { text += piece; });
  return text;
}

void write_text_file(const Graph& graph, const std::string& path) {
  GraphRanks ranks(graph);
  write_text_file(ranks, path);
}

void write_text_file(RankSource& graph, const std::string& path) {
  FileWriter file(path);
  print_text(graph, [&](std::string_view piece) { file.write(piece); });
  file.commit();
}

std::string op_to_text(const Op& op, const Collective* collective) {
  std::string text;
  const TextSink sink = [&](std::string_view piece) { text += piece; };
  Printer printer(nullptr, sink);
  printer.op(op, collective);
  printer.flush();
  return text;
}

std::string op_to_text(const Graph& graph, Rank rank, OpIndex op) {
  const RankView view = graph.rank(rank);
  return op_to_text(view.op(op), view.kind(op) == OpKind::kCollective ? &view.collective(op) : nullptr);
}

}  // namespace weft::goal
