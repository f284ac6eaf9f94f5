// Folders as STAGE (astra-sim/symbolic_tensor_graph) writes them: the attributes of its converter, groups in
// NAME.json beside NAME.RANK.et, operations and no durations.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "goal/chakra/chakra.pb.h"
#include "goal/check/check.h"
#include "goal/import/chakra/importer.h"
#include "goal/workload/compute/device.h"

namespace weft::goal {
namespace {

namespace fs = std::filesystem;
namespace pb = ChakraProtoMsg;

void write_message(std::ofstream& file, const google::protobuf::Message& message) {
  const std::string bytes = message.SerializeAsString();
  for (std::size_t n = bytes.size();; n >>= 7) {
    file.put(static_cast<char>(n > 127 ? n % 128 + 128 : n));
    if (n < 128) break;
  }
  file << bytes;
}

pb::AttributeProto& attribute(pb::Node& node, const char* name) {
  pb::AttributeProto& made = *node.add_attr();
  made.set_name(name);
  return made;
}

pb::Node node(std::uint64_t id, pb::NodeType type, std::initializer_list<std::uint64_t> after) {
  pb::Node made;
  made.set_id(id);
  made.set_name("mb0.transformer.0.mha");
  made.set_type(type);
  for (const std::uint64_t dep : after) made.add_data_deps(dep);
  return made;
}

pb::Node compute(std::uint64_t id, std::int64_t ops, std::uint64_t size) {
  pb::Node made = node(id, pb::COMP_NODE, {});
  attribute(made, "num_ops").set_int64_val(ops);
  attribute(made, "tensor_size").set_uint64_val(size);
  attribute(made, "op_type").set_string_val("M");
  return made;
}

pb::Node collective(std::uint64_t id, std::int64_t size, pb::CollectiveCommType type, int group,
                    bool legacy) {
  pb::Node made = node(id, pb::COMM_COLL_NODE, {id - 1});
  attribute(made, "comm_size").set_int64_val(size);
  attribute(made, "comm_type").set_int64_val(type);
  if (legacy) {
    attribute(made, "comm_group").set_int32_val(group);
  } else {
    attribute(made, "pg_name").set_string_val(std::to_string(group));
    attribute(made, "is_cpu_op").set_int32_val(0);
  }
  return made;
}

pb::Node message(std::uint64_t id, bool send, int peer) {
  pb::Node made = node(id, send ? pb::COMM_SEND_NODE : pb::COMM_RECV_NODE, {id - 1});
  attribute(made, "comm_size").set_int64_val(512);
  attribute(made, "comm_tag").set_int32_val(77);
  attribute(made, send ? "comm_dst" : "comm_src").set_int32_val(peer);
  attribute(made, "is_cpu_op").set_int32_val(0);
  return made;
}

// Two stages of a pipeline, tp=2: groups 1 and 2. Each rank computes and sums up; the first two send on.
fs::path stage_folder(const char* name, bool legacy) {
  const fs::path at = fs::path(std::getenv("TEST_TMPDIR")) / name;
  fs::remove_all(at);
  fs::create_directories(at);
  for (int rank = 0; rank < 4; ++rank) {
    std::ofstream file(at / ("workload." + std::to_string(rank) + ".et"), std::ios::binary);
    pb::GlobalMetadata metadata;
    metadata.add_attr()->set_name("schema");
    metadata.mutable_attr(0)->set_string_val("symbolic_tensor_network");
    write_message(file, metadata);
    write_message(file, compute(1, 1 << 30, 1 << 20));
    write_message(file, collective(2, 1000, pb::ALL_GATHER, 1 + rank / 2, legacy));
    write_message(file, message(3, rank < 2, (rank + 2) % 4));
    write_message(file, compute(4, 64, 1 << 28));
  }
  std::ofstream(at / "workload.json") << R"({"1": [0, 1], "2": [2, 3]})";
  return at;
}

std::uint64_t told(const PackInfo& info, const std::string& name) {
  for (const Anomaly& anomaly : info.anomalies) {
    if (anomaly.name == name) return anomaly.count;
  }
  return 0;
}

}  // namespace

TEST_CASE("stage: groups are found beside the files, and sizes are told to count elements") {
  for (const bool legacy : {false, true}) {
    PackInfo info;
    const Graph graph = import_chakra(stage_folder("groups", legacy), {}, &info);
    REQUIRE(graph.ranks() == 4);
    const RankView rank = graph.rank(3);
    CHECK(rank.collective(1).kind == CollectiveKind::kAllgather);
    CHECK(rank.collective(1).bytes == 1000);
    CHECK(graph.communicators()[rank.collective(1).comm].ranks == std::vector<Rank>{2, 3});
    CHECK(rank.kind(2) == OpKind::kRecv);
    CHECK(rank.peer(2) == 1);
    CHECK(rank.value(2) == 512);
    CHECK(rank.value(0) == 0);
    CHECK(check(graph).clean());
    CHECK(told(info, "assumed_groups") == 0);
    CHECK(told(info, "sizes_in_elements") == 4);
    CHECK(told(info, "compute_without_time") == 8);
  }
}

TEST_CASE("stage: a device reckons operations, or moving bytes where that takes longer") {
  const Device& h100 = find_device("h100");
  PackInfo info;
  const Graph graph = import_chakra(stage_folder("device", false),
                                    {.reckoning = {.device = &h100, .element_bytes = 2}}, &info);
  const RankView rank = graph.rank(0);
  // 2^30 multiplications and additions are the product of two matrices of 1024 x 1024.
  CHECK(rank.value(0) ==
        static_cast<std::uint64_t>(std::llround(h100.gemm_ns({.m = 1024, .n = 1024, .k = 1024}))));
  CHECK(rank.value(3) == static_cast<std::uint64_t>(std::llround(h100.memory_ns(2.0 * (1 << 28)))));
  CHECK(rank.collective(1).bytes == 2000);
  CHECK(rank.value(2) == 1024);
  CHECK(told(info, "reckoned_computations") == 8);
  CHECK(told(info, "sizes_in_elements") == 0);
}

TEST_CASE("chakra: nodes that say bytes alone take what moving them takes") {
  const fs::path at = fs::path(std::getenv("TEST_TMPDIR")) / "bytes_alone";
  fs::create_directories(at);
  std::ofstream(at / "t.0.json") << R"({"workload_graph": [{"id": 1, "type": 4, "tensor_size": 67108864},
    {"id": 2, "type": 2, "tensor_size": 67108864}, {"id": 3, "type": 4, "tensor_size": 8, "duration_micros": 3}]})";
  const Device& h100 = find_device("h100");
  PackInfo info;
  const Graph graph = import_chakra(at, {.reckoning = {.device = &h100}}, &info);
  const auto moved = static_cast<std::uint64_t>(std::llround(h100.memory_ns(1 << 26)));
  CHECK(moved > 20'000);  // 3.35 TB/s and less
  CHECK(graph.rank(0).value(0) == moved);
  CHECK(graph.rank(0).value(1) == moved);
  CHECK(graph.rank(0).value(2) == 3000);
  CHECK(told(info, "compute_without_time") == 0);
  for (const double gflops : {0.0, 100.0}) {
    PackInfo other;
    CHECK(import_chakra(at, {.reckoning = {.gflops = gflops}}, &other).rank(0).value(0) == 0);
    CHECK(told(other, "compute_without_time") == 2);
  }
}

}  // namespace weft::goal
