// Chakra execution traces: there and back, byte by byte against the schema, real ones, and what is refused.
#include "goal/chakra/chakra.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "goal/check/check.h"
#include "goal/import/chakra/importer.h"
#include "goal/text/text.h"
#include "sim/units/input_error.h"
#include "tests/goal/random_graph.h"

namespace weft::goal {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;

fs::path folder(const std::string& name) {
  const fs::path path = fs::path(std::getenv("TEST_TMPDIR")) / name;
  fs::remove_all(path);
  fs::create_directories(path);
  return path;
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The text form without labels and names of communicators, and with the dependents of an operation sorted.
std::string lines(const Graph& graph) {
  GraphBuilder builder;
  for (std::size_t i = 1; i < graph.communicators().size(); ++i) {
    builder.add_communicator({"", graph.communicators()[i].ranks});
  }
  for (Rank rank = 0; rank < graph.ranks(); ++rank) {
    const RankView view = graph.rank(rank);
    for (OpIndex i = 0; i < view.ops(); ++i) {
      if (view.kind(i) == OpKind::kCollective) {
        builder.add_collective(view.collective(i), view.cpu(i), view.nic(i));
      } else {
        builder.add(view.op(i));
      }
    }
    for (OpIndex i = 0; i < view.ops(); ++i) {
      std::vector<Edge> edges(view.dependents(i).begin(), view.dependents(i).end());
      std::sort(edges.begin(), edges.end(),
                [](const Edge& a, const Edge& b) { return a.dependent() < b.dependent(); });
      for (const Edge& edge : edges) builder.add_edge(i, edge.dependent(), edge.on_start());
    }
    builder.end_rank();
  }
  return to_text(builder.finish());
}

Graph there_and_back(const Graph& graph) {
  const fs::path at = folder("back");
  GraphRanks ranks(graph);
  write_chakra_files(ranks, (at / "x.et").string());
  return import_chakra(at, {}, nullptr);
}

// Replaces wildcards and leaves out edges said twice, for which Chakra has no words.
Graph speakable(const Graph& graph) {
  GraphBuilder builder;
  for (Rank rank = 0; rank < graph.ranks(); ++rank) {
    const RankView view = graph.rank(rank);
    std::set<std::pair<OpIndex, OpIndex>> seen;
    for (OpIndex i = 0; i < view.ops(); ++i) {
      Op op = view.op(i);
      if (op.kind != OpKind::kCalc && op.tag == kAny) op.tag = 7;
      if (op.kind != OpKind::kCalc && op.peer == kAny) op.peer = 0;
      builder.add(op);
    }
    for (OpIndex i = 0; i < view.ops(); ++i) {
      for (const Edge& edge : view.dependents(i)) {
        if (i >= edge.dependent()) continue;  // no circles
        if (seen.emplace(i, edge.dependent()).second) builder.add_edge(i, edge.dependent(), edge.on_start());
      }
    }
    builder.end_rank();
  }
  return builder.finish();
}

std::string message(const fs::path& path, const ChakraOptions& options = {}) {
  try {
    import_chakra(path, options, nullptr);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

fs::path json(const std::string& name, const std::string& nodes) {
  const fs::path at = folder(name);
  std::ofstream(at / "t.0.json") << "{\"workload_graph\": [\n" << nodes << "]}";
  return at;
}

std::uint64_t anomalies(const PackInfo& info, const std::string& name) {
  for (const Anomaly& anomaly : info.anomalies) {
    if (anomaly.name == name) return anomaly.count;
  }
  return 0;
}

}  // namespace

TEST_CASE("chakra: bytes, by hand from the published schema") {
  const fs::path at = folder("bytes");
  const Graph graph = parse_text("num_ranks 1\nrank 0 {\na: calc 5000\nb: calc 2000\nb requires a\n}\n", "t");
  GraphRanks ranks(graph);
  write_chakra_files(ranks, (at / "x.et").string());
  // Attributes: name (1), bool_val (27), uint32_val (11).
  const std::string is_cpu_op = std::string("\x52\x0e\x0a\x09is_cpu_op\xd8\x01\x01", 16);
  const std::string cpu = std::string(
      "\x52\x07\x0a\x03"
      "cpu\x58\x00",
      9);
  std::string expected = std::string(
      "\x07\x0a\x05"
      "1.0.0");  // GlobalMetadata.version (1)
  // Node: id (1, absent as 0), name (2), type (3), data_deps (5, packed), duration_micros (7), attr (10).
  const std::string first = std::string(
                                "\x12\x06"
                                "calc 0\x18\x04\x38\x05") +
                            is_cpu_op + cpu;
  const std::string second = std::string(
                                 "\x08\x01\x12\x06"
                                 "calc 1\x18\x04\x2a\x01\x00\x38\x02",
                                 17) +
                             is_cpu_op + cpu;
  for (const std::string& node : {first, second}) expected += static_cast<char>(node.size()) + node;
  CHECK(bytes_of(at / "x.0.et") == expected);
  CHECK_FALSE(fs::exists(at / "x.comm_group.json"));
}

TEST_CASE("chakra: there and back, all kinds of operation") {
  const Graph graph = parse_text(R"(num_ranks 4
comm 1 { 3 1 }
rank 0 {
s: send 10b to 1 tag 3 cpu 2 nic 1
c: calc 1234
t: calc 7000 cpu 2
t irequires s
c requires s
a: allreduce 4000b elem 4
a requires t
}
rank 1 {
r: recv 10b from 0 tag 3
a: allreduce 4000b elem 4
m: bcast 77b root 1 comm 1
m requires a
s: send 5b to 3 tag 2147483647 comm 1 sync
}
rank 2 {
a: allreduce 4000b elem 4
}
rank 3 {
a: allreduce 4000b elem 4
m: bcast 77b root 1 comm 1
r: recv 5b from 1 tag 2147483647 comm 1
r requires m
}
)",
                                 "t");
  CHECK(lines(there_and_back(graph)) == lines(graph));
  GraphBuilder builder;
  for (Rank rank = 0; rank < 3; ++rank) {
    for (int kind = 0; kind <= static_cast<int>(CollectiveKind::kAlltoall); ++kind) {
      Collective made{.kind = static_cast<CollectiveKind>(kind)};
      if (made.kind != CollectiveKind::kBarrier) made.bytes = 999;
      if (has_root(made.kind)) made.root = 2;
      builder.add_collective(made);
    }
    builder.add_collective(
        {.kind = CollectiveKind::kAlltoall, .counts = {1, 2, 3}, .receive_counts = {4, 5, 6}});
    builder.add_collective({.kind = CollectiveKind::kGather, .root = 1, .bytes = 8, .v_form = true});
    builder.add_collective({.kind = CollectiveKind::kAllgather, .counts = {7, 0, 9}});
    builder.add_collective({.kind = CollectiveKind::kAllreduce, .bytes = 64, .algorithm = "ring"});
    builder.end_rank();
  }
  const Graph collectives = builder.finish();
  CHECK(lines(there_and_back(collectives)) == lines(collectives));
}

TEST_CASE("chakra: there and back, any graph of messages") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Graph graph = speakable(random_graph(seed, {.collectives = false, .labels = false, .wide = false}));
    CHECK(lines(there_and_back(graph)) == lines(graph));
  }
}

TEST_CASE("chakra: what the format has no word for") {
  const auto refused = [](const std::string& text) {
    const Graph graph = parse_text("num_ranks 1\nrank 0 {\n" + text + "\n}\n", "t");
    GraphRanks ranks(graph);
    try {
      write_chakra_files(ranks, (folder("refused") / "x.et").string());
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(refused("calc 1\nrecv 5b from -1"),
             Contains("x.0.et: rank 0, operation 1: a message from any source"));
  CHECK_THAT(refused("scan 5b"), Contains("a scan, for which Chakra has no word; weft goal export --expand"));
}

TEST_CASE("chakra: its own sample, of which control and data dependencies make a circle") {
  const fs::path path = "tests/data/chakra/resnet.0.et.gz";
  PackInfo info;
  const Graph graph = import_chakra(path, {.ranks = 2}, &info);
  CHECK(graph.ranks() == 2);
  CHECK(graph.ops() == 2 * 3664);
  CHECK(check(graph).clean());
  CHECK(anomalies(info, "control_dependencies_left_out") == 2 * 2962);
  CHECK(anomalies(info, "host_calls") == 2 * 14);
  // The bytes of the same program's Kineto profile.
  std::map<std::uint64_t, int> bytes;
  for (OpIndex i = 0; i < graph.rank(0).ops(); ++i) {
    if (graph.rank(0).kind(i) == OpKind::kCollective) ++bytes[graph.rank(0).collective(i).bytes];
  }
  CHECK(bytes ==
        std::map<std::uint64_t, int>{
            {424, 1}, {212480, 1}, {8196000, 1}, {9724160, 1}, {26255360, 1}, {26550272, 1}, {31502336, 1}});
  CHECK_THAT(
      message(path, {.deps = ChakraDeps::kAll}),
      Contains("nodes wait for each other in a circle: node 3317 waits for 3318, which waits for 3317"));
}

TEST_CASE("chakra: protobuf's JSON form, as chakra_jsonizer writes it") {
  const fs::path at = folder("jsonized");
  const auto write = [&](const std::string& text) {
    for (int rank = 0; rank < 2; ++rank) std::ofstream(at / fmt::format("t.{}.json", rank)) << text;
  };
  const std::string head = "{\n  \"version\": \"0.0.4\"\n}";
  const std::string compute =
      R"({"id": "1", "name": "a \"}\\", "type": "COMP_NODE", "durationMicros": "7", "inputs": {"values": "[]"},
          "attr": [{"name": "is_cpu_op", "boolVal": false}, {"name": "fresh", "int64Val": "3"}]})";
  const std::string collective =
      R"({"id": "2", "type": "COMM_COLL_NODE", "dataDeps": ["1"], "attr": [
          {"name": "comm_type", "int64Val": "0"}, {"name": "comm_size", "int64Val": "6000000000"}]})";
  write(head + compute + "\n" + collective + "\n");
  PackInfo info;
  const Graph graph = import_chakra(TracePaths(at), {}, &info);
  CHECK(graph.ranks() == 2);
  CHECK_THAT(to_text(graph), Contains("calc 7000") && Contains("allreduce 6000000000b"));
  CHECK(graph.rank(1).dependents(0).size() == 1);
  CHECK(std::ranges::any_of(info.anomalies, [](const Anomaly& anomaly) {
    return anomaly.name == "unread_attributes" && anomaly.sentence.find("fresh") != std::string::npos;
  }));
  const auto refused = [&](const std::string& text, const char* what) {
    write(text);
    CHECK_THAT(message(at), Contains("t.0.json:") && Contains(what));
  };
  refused(head + compute + collective.substr(0, 40), "the file ends within a message");
  refused(head + compute + "]", "expected a message of Chakra's in braces");
  refused(head + R"({"id": "1", "dataDeps": ["x"]})", "not a Node message of Chakra");
  refused(head + R"({"id": "1", "ctrlDeps": ["2"], "more": 1})", "more");
}

TEST_CASE("chakra: the JSON form") {
  PackInfo info;
  const Graph graph = import_chakra("tests/data/chakra/small_chakra.0.json", {}, &info);
  // Seven nodes; of their dependencies those that are on one of the seven: 217, 430, 433 and 435 (three).
  CHECK(graph.ops() == 7);
  CHECK(graph.edges() == 6);
  CHECK(graph.rank(0).value(0) == 318'000);
  CHECK(anomalies(info, "missing_dependencies") == 7);
  CHECK(anomalies(info, "communication_of_unknown_size") == 1);
}

TEST_CASE("chakra: the JSON form with names of types and a list of attributes") {
  const auto nodes = [](const char* type) {
    return R"({"id": 1, "type": "COMP_NODE", "duration_micros": 100},
{"id": 2, "type": "COMM_COLL_NODE", "data_deps": [1], "attr": [{"name": "comm_type", "int64_val": 2},
 {"name": "comm_size", "int64_val": 1000}, {"name": "is_cpu_op", "bool_val": false}, {"name": "fresh", "int64_val": 1}]},
{"id": 3, "type": ")" +
           std::string(type) + R"(", "comm_type": "REDUCE_SCATTER", "comm_size": 64, "data_deps": [2]})";
  };
  PackInfo info;
  const Graph graph = import_chakra(json("names", nodes("COMM_COLL_NODE")), {.ranks = 2}, &info);
  const RankView rank = graph.rank(1);
  CHECK(rank.value(0) == 100'000);
  CHECK(rank.collective(1).kind == CollectiveKind::kAllgather);
  CHECK(rank.collective(1).bytes == 1000);
  CHECK(rank.collective(2).kind == CollectiveKind::kReduceScatter);
  CHECK(rank.collective(2).bytes == 32);
  CHECK(anomalies(info, "unread_attributes") == 1);
  CHECK_THAT(message(json("names", nodes("COLL_NODE"))),
             Contains("t.0.json:5:") &&
                 Contains("'type' is 'COLL_NODE', where a number from 1 to 7 or a name like COMP_NODE is"));
}

TEST_CASE("chakra: a collective without a size, and a barrier, which has none") {
  const std::string nodes = R"({"Id": 1, "NodeType": 7, "comm_type": 0, "runtime": 5},
{"Id": 2, "NodeType": 7, "comm_type": 9}, {"Id": 3, "NodeType": 7, "comm_type": 0, "comm_size": 0})";
  PackInfo info;
  const Graph graph = import_chakra(json("unsized", nodes), {.ranks = 2}, &info);
  const RankView rank = graph.rank(0);
  CHECK(rank.kind(0) == OpKind::kCalc);
  CHECK(rank.value(0) == 5000);
  CHECK(rank.collective(1).kind == CollectiveKind::kBarrier);
  CHECK(rank.collective(2).kind == CollectiveKind::kAllreduce);
  CHECK(anomalies(info, "communication_of_unknown_size") == 2);  // one on each rank
}

TEST_CASE("chakra: a time that is null or missing is told, one of 0 is a time") {
  const std::string nodes = R"({"Id": 1, "NodeType": 4, "runtime": null}, {"Id": 2, "NodeType": 4},
{"Id": 3, "NodeType": 4, "duration_micros": 0}, {"Id": 4, "NodeType": 4, "runtime": 2},
{"Id": 5, "NodeType": 2, "runtime": null}, {"Id": 6, "NodeType": 1, "runtime": null})";
  PackInfo info;
  const Graph graph = import_chakra(json("null", nodes), {}, &info);
  CHECK(anomalies(info, "nodes_without_time") == 3);
  info = {};
  CHECK(import_chakra(json("told", "{\"Id\": 4, \"NodeType\": 4, \"runtime\": 2}"), {}, &info)
            .rank(0)
            .value(0) == 2000);
  CHECK(anomalies(info, "nodes_without_time") == 0);
}

TEST_CASE("chakra: groups, sizes and streams") {
  const std::string nodes = R"({"Id": 1, "NodeType": 7, "comm_type": 7, "comm_size": 10, "pg_name": "tp"},
{"Id": 2, "NodeType": 7, "comm_type": 6, "comm_size": 8, "is_cpu_op": false, "stream": 20, "ctrlDeps": [1]},
{"Id": 3, "NodeType": 4, "num_ops": 3000, "is_cpu_op": true})";
  const fs::path at = json("groups", nodes);
  std::ofstream(at / "my_comm_group.json") << R"({"tp": [0, 1, 2, 3]})";
  PackInfo info;
  const Graph graph = import_chakra(at, {.ranks = 4, .reckoning = {.gflops = 1.5}}, &info);
  const RankView rank = graph.rank(3);
  CHECK(rank.collective(0).kind == CollectiveKind::kReduceScatter);
  CHECK(rank.collective(0).bytes == 3);  // 10 over 4 ranks, rounded up
  CHECK(graph.communicators()[rank.collective(0).comm].name == "tp");
  CHECK(rank.collective(1).bytes == 2);
  CHECK(rank.cpu(1) == 1);
  CHECK(rank.value(2) == 2000);
  CHECK(rank.dependents(0).size() == 1);
  CHECK(check(graph).clean());
  std::ofstream(at / "my_comm_group.json") << R"({"dp": [0]})";
  CHECK_THAT(message(at), Contains("node 1 names group 'tp', which the file of groups lacks"));
  std::ofstream(at / "my_comm_group.json") << R"({"tp": [0, 9]})";
  CHECK_THAT(message(at, {.ranks = 4}), Contains("group 'tp' has rank '9'; expected one of 0 to 3"));
  std::ofstream(at / "my_comm_group.json") << R"({"tp": [1]})";
  CHECK_THAT(message(at, {.ranks = 2}), Contains("node 1 of rank 0 is a collective of group 'tp'"));
}

TEST_CASE("chakra: numbers in any exact form, and none taken for another") {
  const auto with = [](const std::string& size) {
    return "{\"Id\": 1, \"NodeType\": 7, \"comm_type\": 0, \"rf_id\": 3, \"comm_size\": " + size + "}";
  };
  for (const char* size : {"1073741824", "1073741824.0", "\"1073741824\"", "1.073741824e9"}) {
    PackInfo info;
    const Graph graph = import_chakra(json("forms", with(size)), {.ranks = 2}, &info);
    CHECK(graph.rank(0).collective(0).bytes == 1u << 30);
    CHECK(anomalies(info, "unread_attributes") == 1);
  }
  CHECK_THAT(message(json("bad", with("1.5"))),
             Contains("t.0.json:2:") && Contains("'comm_size' is '1.5', where a whole number is expected"));
  CHECK_THAT(message(json("bad", with("-5"))), Contains("comm_size is -5, where a number from 0 to"));
  CHECK_THAT(message(json("bad", "{\"Id\": 1, \"NodeType\": 4, \"runtime\": \"soon\"}")),
             Contains("'runtime' is 'soon', where a number of microseconds is expected"));
  CHECK(import_chakra(json("time", "{\"Id\": 1, \"NodeType\": 4, \"runtime\": 1.25}"), {}, nullptr)
            .rank(0)
            .value(0) == 1250);

  // The protobuf form: a message of 58 bytes or so, with comm_size as each kind of number.
  const auto varint = [](std::uint64_t n) {
    std::string bytes;
    for (; n > 127; n >>= 7) bytes += static_cast<char>((n & 127) | 128);
    return bytes + static_cast<char>(n);
  };
  const auto text = [&](int field, const std::string& of) {
    return varint(field << 3 | 2) + varint(of.size()) + of;
  };
  const auto fixed = [](const auto& value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  };
  const auto file = [&](const std::string& value) {
    const fs::path at = folder("kinds");
    const std::string metadata = text(1, "0.0.4");
    const std::string node = varint(1 << 3) + varint(1) + varint(3 << 3) + varint(7) +
                             text(10, text(1, "comm_type") + varint(9 << 3) + varint(0)) +
                             text(10, text(1, "comm_size") + value);
    std::ofstream(at / "w.0.et", std::ios::binary)
        << varint(metadata.size()) << metadata << varint(node.size()) << node;
    return at;
  };
  for (const std::string& value :
       {varint(7 << 3) + varint(1024), varint(9 << 3) + varint(1024), varint(17 << 3) + varint(2048),
        varint(21 << 3 | 1) + fixed(std::uint64_t{1024}), varint(3 << 3 | 1) + fixed(1024.0),
        varint(5 << 3 | 5) + fixed(1024.0F), text(29, "1024"), text(29, "1024.0")}) {
    CHECK(import_chakra(file(value), {.ranks = 2}, nullptr).rank(0).collective(0).bytes == 1024);
  }
  // Field 27 is a truth value.
  for (const std::string& value :
       {varint(3 << 3 | 1) + fixed(0.5), text(29, "many"), varint(27 << 3) + varint(1),
        varint(13 << 3) + varint(std::uint64_t{1} << 63)}) {
    CHECK_THAT(message(file(value)), Contains("w.0.et: byte ") &&
                                         Contains("node 1: attribute 'comm_size' is") &&
                                         Contains("where a whole number is expected"));
  }
}

TEST_CASE("chakra: a value that is given twice is the same one, or refused") {
  const auto node = [](const std::string& more) {
    return "{\"Id\": 1, \"NodeType\": 7, \"comm_type\": 0, \"comm_size\": 1000" + more + "}";
  };
  CHECK(import_chakra(json("same", node(", \"comm_size\": 1000")), {.ranks = 2}, nullptr)
            .rank(0)
            .collective(0)
            .bytes == 1000);
  CHECK_THAT(message(json("size", node(", \"comm_size\": 5"))),
             Contains("t.0.json:2:") && Contains("'comm_size' is given twice, with two values"));
  CHECK_THAT(message(json("true", "{\"Id\": 1, \"NodeType\": 7, \"comm_type\": 0, \"comm_size\": true}")),
             Contains("'comm_size' is 'true', where a whole number is expected"));
  const auto compute = [](const std::string& more) {
    return "{\"Id\": 1, \"NodeType\": 4, \"runtime\": 100" + more + "}";
  };
  CHECK(import_chakra(json("time", compute(", \"duration_micros\": 100")), {}, nullptr).rank(0).value(0) ==
        100'000);
  CHECK_THAT(message(json("time", compute(", \"duration_micros\": 7"))),
             Contains("'duration_micros' is given twice"));
  CHECK_THAT(message(json("deps", compute(", \"data_deps\": [], \"data_deps\": []"))),
             Contains("'data_deps' is given twice"));
  CHECK_THAT(message(json("deps", compute(", \"data_deps\": 7"))), Contains("'data_deps' is no list"));
  const auto attributes = [](const std::string& list) {
    return "{\"Id\": 1, \"NodeType\": 7, \"attr\": [{\"name\": \"comm_type\", \"int64_val\": 0}, " + list +
           "]}";
  };
  CHECK_THAT(message(json("attr", attributes("{\"name\": \"comm_size\", \"int64_val\": 8}, "
                                             "{\"name\": \"comm_size\", \"int64_val\": 9}"))),
             Contains("'comm_size' is given twice, with two values"));
  CHECK_THAT(message(json("attr", attributes("{\"name\": \"synchronous\", \"string_val\": \"perhaps\"}"))),
             Contains("attribute 'synchronous' is 'perhaps'"));
  CHECK_THAT(message(json("attr", attributes("{\"name\": \"counts\", \"int64_val\": 8}"))),
             Contains("attribute 'counts' is '8', where a uint64_list is expected"));
  CHECK_THAT(message(json("attr", attributes("{\"name\": \"involved_dim\", \"bool_val\": true}"))),
             Contains("where a bool_list is expected"));
}

TEST_CASE("chakra: what makes no sense") {
  CHECK_THAT(message(json("twice", "{\"Id\": 1, \"NodeType\": 4},\n{\"Id\": 1, \"NodeType\": 4}")),
             Contains("t.0.json:3:") && Contains("node 1 ('') has the id of an earlier node"));
  CHECK_THAT(message(json("type", "{\"Id\": 1, \"NodeType\": 9}")),
             Contains("is of type 9; known are 1 to 7"));
  CHECK_THAT(message(json("self", "{\"Id\": 5, \"NodeType\": 4, \"data_deps\": [5]}")),
             Contains("node 5 waits for 5 (1 nodes can never run)"));
  CHECK_THAT(message(json("peer", "{\"Id\": 5, \"NodeType\": 5, \"comm_dst\": 2, \"comm_size\": 1}")),
             Contains("node 5 sends to rank 2, but there are 1 ranks"));
  CHECK_THAT(message(json("empty", "")), Contains("no Chakra traces here") || Contains("no nodes"));
  const fs::path at = folder("cut");
  const Graph graph = parse_text("num_ranks 1\nrank 0 {\ncalc 5000\n}\n", "t");
  GraphRanks ranks(graph);
  write_chakra_files(ranks, (at / "x.et").string());
  const std::string whole = bytes_of(at / "x.0.et");
  for (std::size_t size = 9; size < whole.size(); ++size) {
    std::ofstream(at / "x.0.et", std::ios::binary) << whole.substr(0, size);
    CHECK_THAT(message(at), Contains("x.0.et: byte 9: the file ends within a message of"));
  }
  // A length that promises 60 MB takes no such memory, and one of 2^60 is refused.
  std::ofstream(at / "x.0.et", std::ios::binary) << whole.substr(0, 8) << "\x80\x80\x80\x1cxyz";
  CHECK_THAT(message(at), Contains("the file ends within a message of 58720256 bytes, 3 of which are there"));
  std::ofstream(at / "x.0.et", std::ios::binary)
      << whole.substr(0, 8) << "\xff\xff\xff\xff\xff\xff\xff\xff\x0f";
  CHECK_THAT(message(at), Contains("byte 8: a message of more than 64 MiB"));
  fs::rename(at / "x.0.et", at / "x.1.et");
  CHECK_THAT(message(at), Contains("the trace of rank 0 is missing"));
}

}  // namespace weft::goal
