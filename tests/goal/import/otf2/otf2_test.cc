// OTF2 archives that the OTF2 library wrote: requests, communicators, and the sizes of collectives.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "goal/import/otf2/importer.h"
#include "goal/text/text.h"
#include "sim/units/module.h"
#include "tests/goal/import/otf2/archive_writer.h"

namespace weft::goal {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;

fs::path folder(const std::string& name) { return fs::path(std::getenv("TEST_TMPDIR")) / name; }

Graph imported(const fs::path& path, PackInfo& info) {
  const Importer importer = otf2_importer();
  REQUIRE(importer.sniff(path));
  return importer.import(path, Parameters(importer.info, {}), info);
}

std::uint64_t count(const PackInfo& info, const std::string& name) {
  for (const Anomaly& anomaly : info.anomalies) {
    if (anomaly.name == name) return anomaly.count;
  }
  return 0;
}

constexpr const char* kExchange = R"(num_ranks 3
comm 1 "comm1" { 2 1 }
rank 0 {
a: calc 500
}
rank 1 {
a: calc 100
b: recv 402b from 2 tag 5 comm 1
b requires a
c: calc 100
c irequires b
d: send 401b to 2 tag 5 comm 1
d requires c
e: calc 200
e irequires d
f: calc 100
f requires d
f requires b
f requires e
}
rank 2 {
a: calc 100
b: recv 401b from 1 tag 5 comm 1
b requires a
c: calc 100
c irequires b
d: send 402b to 1 tag 5 comm 1
d requires c
e: calc 200
e irequires d
f: calc 100
f requires d
f requires b
f requires e
}
)";

}  // namespace

TEST_CASE("otf2: requests, a sub-communicator, tests in vain and calls without events") {
  const fs::path at = folder("requests");
  ArchiveWriter writer(at, 3);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    std::uint64_t now = 1000;
    const auto next = [&] { return now += 200; };  // 100 ns between calls
    writer.call(rank, now, "MPI_Init");
    if (rank == 0) {
      writer.call(rank, next(), "MPI_Put");
      writer.call(rank, next(), "MPI_Comm_rank");
    } else {  // ranks 2 and 1 are 0 and 1 of communicator 1
      const std::uint32_t other = rank == 1 ? 0 : 1;
      writer.call(rank, next(), "MPI_Irecv",
                  [&](auto* w, auto t) { OTF2_EvtWriter_MpiIrecvRequest(w, nullptr, t, 77); });
      writer.call(rank, next(), "MPI_Isend", [&](auto* w, auto t) {
        OTF2_EvtWriter_MpiIsend(w, nullptr, t, other, 1, 5, 400 + rank, 78);
      });
      writer.call(rank, next(), "MPI_Test",
                  [&](auto* w, auto t) { OTF2_EvtWriter_MpiRequestTest(w, nullptr, t, 77); });
      writer.call(rank, next(), "MPI_Waitall", [&](auto* w, auto t) {
        OTF2_EvtWriter_MpiIsendComplete(w, nullptr, t, 78);
        OTF2_EvtWriter_MpiIrecv(w, nullptr, t, other, 1, 5, 400 + 3 - rank, 77);
      });
    }
    writer.call(rank, next(), "MPI_Finalize");
  }
  writer.close({{2, 1}});
  PackInfo info;
  const Graph graph = imported(at, info);
  INFO(to_text(graph));
  CHECK(graph == parse_text(kExchange, "expected"));
  CHECK(count(info, "not_replayed_mpi_put") == 1);
  CHECK(count(info, "local_calls") == 1);
  CHECK(count(info, "polls") == 2);
  CHECK(info.metadata["traced_elapsed_ns"] == "900");
}

TEST_CASE("otf2: collectives get back the sizes from the sums that Score-P records") {
  const fs::path at = folder("collectives");
  constexpr std::uint32_t kRanks = 3;
  ArchiveWriter writer(at, kRanks);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    std::uint64_t now = 1000;
    const auto collective = [&](const char* name, OTF2_CollectiveOp op, std::uint32_t root,
                                std::uint64_t sent, std::uint64_t received) {
      writer.call(rank, now += 200, name, [&](auto* w, auto t) {
        OTF2_EvtWriter_MpiCollectiveBegin(w, nullptr, t);
        OTF2_EvtWriter_MpiCollectiveEnd(w, nullptr, t, op, 0, root, sent, received);
      });
    };
    const std::uint32_t none = OTF2_COLLECTIVE_ROOT_NONE;
    const std::uint64_t n = kRanks;
    writer.call(rank, now, "MPI_Init");
    collective("MPI_Barrier", OTF2_COLLECTIVE_OP_BARRIER, none, 0, 0);
    collective("MPI_Bcast", OTF2_COLLECTIVE_OP_BCAST, 1, rank == 1 ? n * 40 : 0, 40);
    collective("MPI_Reduce", OTF2_COLLECTIVE_OP_REDUCE, 2, 48, rank == 2 ? n * 48 : 0);
    collective("MPI_Allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE, none, n * 8, n * 8);
    collective("MPI_Scatter", OTF2_COLLECTIVE_OP_SCATTER, 0, rank == 0 ? n * 16 : 0, 16);
    collective("MPI_Alltoall", OTF2_COLLECTIVE_OP_ALLTOALL, none, n * 24, n * 24);
    collective("MPI_Scan", OTF2_COLLECTIVE_OP_SCAN, none, (n - rank) * 32, (rank + 1) * 32);
    collective("MPI_Gatherv", OTF2_COLLECTIVE_OP_GATHERV, 0, 100 * (rank + 1), rank == 0 ? 600 : 0);
    collective("MPI_Reduce_scatter", OTF2_COLLECTIVE_OP_REDUCE_SCATTER, none, 60, n * 10 * (rank + 1));
    collective("MPI_Alltoallv", OTF2_COLLECTIVE_OP_ALLTOALLV, none, rank == 1 ? 7 : 0, rank == 1 ? 3 : 2);
    writer.call(rank, now += 200, "MPI_Finalize");
  }
  writer.close();
  PackInfo info;
  const Graph graph = imported(at, info);
  const std::string text = to_text(graph);
  INFO(text);
  for (const char* line :
       {": barrier\n", ": bcast 40b root 1\n", ": reduce 48b root 2\n", ": allreduce 8b\n",
        ": scatter 16b root 0\n", ": alltoall 24b\n", ": scan 32b\n", ": gather [100 200 300]b root 0 v\n",
        ": gather 300b root 0 v\n", ": reduce_scatter [10 20 30]b v\n",
        ": alltoall [3 2 2]b receives [0 2 0]b v\n", ": alltoall [0 0 0]b receives [0 3 0]b v\n"}) {
    CHECK_THAT(text, Contains(line));
  }
  CHECK(count(info, "counts_spread_evenly") == 0);
}

TEST_CASE("otf2: events and attributes that are not read are told") {
  const fs::path at = folder("unread");
  ArchiveWriter writer(at, 2);
  OTF2_AttributeList* const attributes = OTF2_AttributeList_New();
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    writer.call(rank, 1000, "MPI_Init");
    OTF2_EvtWriter_ParameterInt(writer.events(rank), nullptr, 1500, 0, 7);
    writer.call(rank, 2000, "MPI_Barrier", [&](OTF2_EvtWriter* events, std::uint64_t now) {
      OTF2_AttributeList_AddUint64(attributes, 0, 64);
      OTF2_EvtWriter_MpiCollectiveEnd(events, attributes, now, OTF2_COLLECTIVE_OP_BARRIER, 0,
                                      OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
    });
    writer.call(rank, 3000, "MPI_Finalize");
  }
  OTF2_AttributeList_Delete(attributes);
  writer.attribute("Cache line size");
  writer.close();
  PackInfo info;
  imported(at, info);
  CHECK(count(info, "unread_attributes") == 4);
  CHECK_THAT(info.anomalies.back().sentence, Contains("Cache line size (2), ParameterInt (2)"));
}

TEST_CASE("events of locations that are no threads are told") {
  const fs::path at = folder("gpu");
  ArchiveWriter writer(at, 2);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    writer.call(rank, 1000, "MPI_Init");
    writer.call(rank, 3000, "MPI_Finalize");
  }
  writer.gpu(17);
  writer.close();
  PackInfo info;
  imported(at, info);
  CHECK(count(info, "unread_attributes") == 17);
  CHECK_THAT(info.anomalies.back().sentence,
             Contains("events of locations that are no threads (GPUs, metrics) (17)"));
}

}  // namespace weft::goal
