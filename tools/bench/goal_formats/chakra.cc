#include "tools/bench/goal_formats/chakra.h"

#include <string>
#include <vector>

namespace weft::goal::bench {
namespace {

// Field numbers of the schema.
enum NodeField { kId = 1, kType = 3, kControl = 4, kData = 5, kDuration = 7, kAttribute = 10 };
enum AttributeField { kName = 1, kInt32 = 7, kInt64 = 9, kBool = 27, kString = 29 };
enum NodeType { kCompute = 4, kSendNode = 5, kReceiveNode = 6, kCollectiveNode = 7 };

void varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}
void number(std::string& out, std::uint64_t field, std::uint64_t value) {
  varint(out, field << 3);
  varint(out, value);
}
void bytes(std::string& out, std::uint64_t field, std::string_view value) {
  varint(out, field << 3 | 2);
  varint(out, value.size());
  out += value;
}
void attribute(std::string& out, std::string_view name, AttributeField field, std::uint64_t value) {
  std::string inner;
  bytes(inner, kName, name);
  number(inner, field, value);
  bytes(out, kAttribute, inner);
}
void list(std::string& out, std::uint64_t field, const std::vector<OpIndex>& values) {
  if (values.empty()) return;
  std::string inner;
  for (const OpIndex value : values) varint(inner, value);
  bytes(out, field, inner);
}

std::uint64_t comm_type(CollectiveKind kind) {
  // By CollectiveKind; what the schema has no number for counts as an allreduce.
  constexpr std::uint64_t kTypes[kCollectiveKinds] = {9, 5, 1, 0, 7, 2, 3, 4, 6, 0, 0};
  return kTypes[static_cast<std::size_t>(kind)];
}

void node(std::string& out, const RankView& view, Rank rank, OpIndex i) {
  const Op op = view.op(i);
  switch (op.kind) {
    case OpKind::kCalc:
      number(out, kType, kCompute);
      number(out, kDuration, op.value / 1000);
      attribute(out, "is_cpu_op", kBool, op.cpu == 0);
      break;
    case OpKind::kSend:
    case OpKind::kRecv: {
      const bool sends = op.kind == OpKind::kSend;
      number(out, kType, sends ? kSendNode : kReceiveNode);
      attribute(out, "comm_size", kInt64, op.value);
      attribute(out, "comm_src", kInt32, sends ? rank : op.peer);
      attribute(out, "comm_dst", kInt32, sends ? op.peer : rank);
      attribute(out, "comm_tag", kInt32, op.tag);
      break;
    }
    case OpKind::kCollective: {
      const Collective& collective = view.collective(i);
      number(out, kType, kCollectiveNode);
      attribute(out, "comm_type", kInt64, comm_type(collective.kind));
      attribute(out, "comm_size", kInt64, collective.bytes);
      std::string inner;
      bytes(inner, kName, "pg_name");
      bytes(inner, kString, std::to_string(op.comm));
      bytes(out, kAttribute, inner);
      break;
    }
  }
}

}  // namespace

void to_chakra(const Graph& graph, const std::function<void(std::string_view)>& sink) {
  for (Rank rank = 0; rank < graph.ranks(); ++rank) {
    const RankView view = graph.rank(rank);
    std::vector<std::vector<OpIndex>> data(view.ops()), control(view.ops());
    for (OpIndex i = 0; i < view.ops(); ++i) {
      for (const Edge& edge : view.dependents(i)) {
        (edge.on_start() ? control : data)[edge.dependent()].push_back(i);
      }
    }
    std::string file, message;
    bytes(message, 1, "1.0.0");
    varint(file, message.size());
    file += message;
    for (OpIndex i = 0; i < view.ops(); ++i) {
      message.clear();
      number(message, kId, i);
      list(message, kControl, control[i]);
      list(message, kData, data[i]);
      node(message, view, rank, i);
      varint(file, message.size());
      file += message;
    }
    sink(file);
  }
}

}  // namespace weft::goal::bench
