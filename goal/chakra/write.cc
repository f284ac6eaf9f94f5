#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "goal/chakra/chakra.h"
#include "goal/chakra/chakra.pb.h"
#include "goal/file.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

namespace pb = ChakraProtoMsg;

std::optional<pb::CollectiveCommType> type_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kBarrier:
      return pb::BARRIER;
    case CollectiveKind::kBcast:
      return pb::BROADCAST;
    case CollectiveKind::kReduce:
      return pb::REDUCE;
    case CollectiveKind::kAllreduce:
      return pb::ALL_REDUCE;
    case CollectiveKind::kReduceScatter:
      return pb::REDUCE_SCATTER;
    case CollectiveKind::kAllgather:
      return pb::ALL_GATHER;
    case CollectiveKind::kGather:
      return pb::GATHER;
    case CollectiveKind::kScatter:
      return pb::SCATTER;
    case CollectiveKind::kAlltoall:
      return pb::ALL_TO_ALL;
    default:
      return std::nullopt;
  }
}

// What a rank puts in: comm_size is the bytes of its input.
std::uint64_t input_bytes(const Collective& collective, std::uint32_t size) {
  if (!collective.counts.empty() && collective.kind != CollectiveKind::kAllgather &&
      collective.kind != CollectiveKind::kGather) {
    return std::accumulate(collective.counts.begin(), collective.counts.end(), std::uint64_t{0});
  }
  switch (collective.kind) {
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kScatter:
    case CollectiveKind::kAlltoall:
      return collective.bytes * size;
    default:
      return collective.bytes;
  }
}

class NodeWriter {
 public:
  NodeWriter(RankSource& graph, const std::string& path, Rank rank)
      : graph_(graph), rank_(rank), file_path_(chakra_rank_file(path, rank)), file_(file_path_) {}

  void write() {
    pb::GlobalMetadata metadata;
    metadata.set_version("1.0.0");
    put(metadata);
    const RankView view = graph_.rank(rank_);
    const std::vector<std::vector<OpIndex>> before = dependencies(view);
    for (OpIndex i = 0; i < view.ops(); ++i) {
      node_.Clear();
      node_.set_id(i);
      for (const OpIndex other : before[i]) node_.add_data_deps(other);
      describe(view.op(i), i);
      number("cpu", view.cpu(i));
      if (view.nic(i) != 0) number("nic", view.nic(i));
      put(node_);
    }
    file_.commit();
  }

 private:
  // What each operation waits for to end. The format has no wait for a start: that is an attribute of ours,
  // start_deps, and for other readers the operation waits for all that the other one waits for.
  std::vector<std::vector<OpIndex>> dependencies(const RankView& view) {
    std::vector<std::vector<OpIndex>> before(view.ops());
    starts_.assign(view.ops(), {});
    for (OpIndex i = 0; i < view.ops(); ++i) {
      for (const Edge& edge : view.dependents(i)) {
        (edge.on_start() ? starts_ : before)[edge.dependent()].push_back(i);
      }
    }
    own_ = before;
    // Begins are passed on in program order, which is how programs post what they don't wait for.
    for (OpIndex i = 0; i < view.ops(); ++i) {
      for (const OpIndex other : starts_[i]) {
        before[i].insert(before[i].end(), before[other].begin(), before[other].end());
      }
      if (starts_[i].empty()) continue;
      std::sort(before[i].begin(), before[i].end());
      before[i].erase(std::unique(before[i].begin(), before[i].end()), before[i].end());
    }
    return before;
  }

  void describe(const Op& op, OpIndex index) {
    switch (op.kind) {
      case OpKind::kCalc:
        node_.set_name(fmt::format("calc {}", index));
        node_.set_type(pb::COMP_NODE);
        node_.set_duration_micros(op.value / 1000);
        if (op.value % 1000 != 0) big("duration_nanos", op.value);
        break;
      case OpKind::kSend:
      case OpKind::kRecv:
        message(op, index);
        break;
      case OpKind::kCollective:
        collective(op, index);
    }
    flag("is_cpu_op", op.kind == OpKind::kCalc && op.cpu == 0);
    if (!starts_[index].empty()) {
      pb::Uint64List& list = *add("start_deps").mutable_uint64_list();
      for (const OpIndex other : starts_[index]) list.add_values(other);
      pb::Uint64List& ends = *add("end_deps").mutable_uint64_list();
      for (const OpIndex other : own_[index]) ends.add_values(other);
    }
  }

  void message(const Op& op, OpIndex index) {
    constexpr std::uint32_t kMost = std::numeric_limits<std::int32_t>::max();
    const bool send = op.kind == OpKind::kSend;
    if (op.peer == kAny || op.tag == kAny) {
      fail(index, "a message from any source or with any tag, for which Chakra has no word");
    }
    if (op.peer > kMost || op.tag > kMost) fail(index, "a rank or tag above 2^31 - 1");
    node_.set_name(fmt::format("{} {}", send ? "send" : "recv", index));
    node_.set_type(send ? pb::COMM_SEND_NODE : pb::COMM_RECV_NODE);
    add("comm_size").set_int64_val(static_cast<std::int64_t>(op.value));
    add("comm_src").set_int32_val(static_cast<std::int32_t>(send ? rank_ : op.peer));
    add("comm_dst").set_int32_val(static_cast<std::int32_t>(send ? op.peer : rank_));
    add("comm_tag").set_int32_val(static_cast<std::int32_t>(op.tag));
    if (op.kind.synchronous()) flag("synchronous", true);
    group(op.comm);
  }

  void collective(const Op& op, OpIndex index) {
    const Collective& what = graph_.collectives()[op.peer];
    const auto type = type_of(what.kind);
    if (!type) {
      fail(index, fmt::format("a {}, for which Chakra has no word; weft goal export --expand spells "
                              "collectives out",
                              name(what.kind)));
    }
    const auto& members = graph_.communicators()[what.comm].ranks;
    const auto size = members.empty() ? graph_.ranks() : static_cast<std::uint32_t>(members.size());
    node_.set_name(fmt::format("{} {}", name(what.kind), index));
    node_.set_type(pb::COMM_COLL_NODE);
    add("comm_type").set_int64_val(*type);
    add("comm_size").set_int64_val(static_cast<std::int64_t>(input_bytes(what, size)));
    if (has_root(what.kind)) number("root", what.root);
    if (what.element_bytes != 1) number("element_bytes", what.element_bytes);
    if (what.of_v_form()) {
      flag("v_form", what.v_form);
      big("block_bytes", what.bytes);
      counts("counts", what.counts);
      counts("receive_counts", what.receive_counts);
    }
    if (!what.algorithm.empty()) add("algorithm").set_string_val(what.algorithm);
    group(what.comm);
  }

  void group(std::uint32_t comm) {
    if (comm != kWorld) add("pg_name").set_string_val(std::to_string(comm));
  }

  pb::AttributeProto& add(const char* name) {
    pb::AttributeProto& attribute = *node_.add_attr();
    attribute.set_name(name);
    return attribute;
  }
  void number(const char* name, std::uint32_t value) { add(name).set_uint32_val(value); }
  void big(const char* name, std::uint64_t value) { add(name).set_uint64_val(value); }
  void flag(const char* name, bool value) { add(name).set_bool_val(value); }
  void counts(const char* name, const std::vector<std::uint64_t>& values) {
    if (values.empty()) return;
    pb::Uint64List& list = *add(name).mutable_uint64_list();
    for (const std::uint64_t value : values) list.add_values(value);
  }

  template <typename Message>
  void put(const Message& message) {
    bytes_.clear();
    message.AppendToString(&bytes_);
    std::string length;
    std::size_t rest = bytes_.size();
    for (; rest >= 128; rest >>= 7) length += static_cast<char>(rest % 128 + 128);
    length += static_cast<char>(rest);
    file_.write(length);
    file_.write(bytes_);
  }

  [[noreturn]] void fail(OpIndex index, const std::string& what) const {
    throw InputError({file_path_}, fmt::format("rank {}, operation {}: {}", rank_, index, what));
  }

  RankSource& graph_;
  Rank rank_;
  std::string file_path_;
  FileWriter file_;
  pb::Node node_;
  std::vector<std::vector<OpIndex>> starts_, own_;  // waits for starts; for ends, without those passed on
  std::string bytes_;
};

std::string stem(const std::string& path) {
  return path.ends_with(".et") ? path.substr(0, path.size() - 3) : path;
}

}  // namespace

std::string chakra_rank_file(const std::string& path, Rank rank) {
  return fmt::format("{}.{}.et", stem(path), rank);
}

std::string chakra_group_file(const std::string& path) { return stem(path) + ".comm_group.json"; }

void write_chakra_files(RankSource& graph, const std::string& path) {
  for (Rank rank = 0; rank < graph.ranks(); ++rank) NodeWriter(graph, path, rank).write();
  if (graph.communicators().size() <= 1) return;
  FileWriter file(chakra_group_file(path));
  std::string text = "{";
  for (std::size_t i = 1; i < graph.communicators().size(); ++i) {
    std::vector<Rank> ranks = graph.communicators()[i].ranks;
    if (ranks.empty()) {
      ranks.resize(graph.ranks());
      std::iota(ranks.begin(), ranks.end(), Rank{0});
    }
    text += fmt::format("{}\n  \"{}\": [{}]", i == 1 ? "" : ",", i, fmt::join(ranks, ", "));
  }
  file.write(text + "\n}\n");
  file.commit();
}

}  // namespace weft::goal
