#include "tools/bench/import/made_up.h"

#include <fmt/core.h>

#include <cstdio>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "goal/chakra/chakra.h"
#include "goal/graph/graph.h"
#include "goal/graph/rank_source.h"
#include "goal/text/text.h"

namespace weft::goal::bench {
namespace {

namespace fs = std::filesystem;

// A file written piece by piece, which knows how long it is.
class Writer {
 public:
  explicit Writer(const fs::path& path) : file_(std::fopen(path.c_str(), "wb"), std::fclose) {
    if (!file_) throw std::runtime_error(path.string() + " can't be written");
  }
  template <typename... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    text_.clear();
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    if (std::fwrite(text_.data(), 1, text_.size(), file_.get()) != text_.size()) {
      throw std::runtime_error("the disk is full");
    }
    bytes_ += text_.size();
  }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::string text_;
  std::uint64_t bytes_ = 0;
};

// Requests of 24 storage units.
fs::path write_spc(const fs::path& folder, std::uint64_t bytes) {
  const fs::path path = folder / "made_up.spc";
  Writer file(path);
  std::uint64_t draw = 1;
  for (std::uint64_t i = 0; file.bytes() < bytes; ++i) {
    draw = draw * 6364136223846793005u + 1442695040888963407u;
    file.add("{},{},{},{},{}.{:06}\n", (draw >> 33) % 24, (draw >> 20) % (1 << 28),
             512 * (1 + (draw >> 40) % 64), (draw >> 50) % 2 == 0 ? 'R' : 'W', i / 5000, i % 5000 * 200);
  }
  return path;
}

// One rank that sends to itself: a receive, a send and a wait for both, over and over.
fs::path write_liballprof(const fs::path& folder, std::uint64_t bytes) {
  Writer file(folder / "trace0.txt");
  file.add("MPI_Init:-:140720308486144:140720308486144:1700000000000000\n");
  std::uint64_t now = 1'700'000'000'000'000;
  for (std::uint64_t i = 0; file.bytes() < bytes; ++i, now += 45) {
    for (const char* name : {"Irecv", "Isend"}) {
      file.add("MPI_{}:{}:140720308486144:100:10,8,8:0:{}:94120304,0,1:14072030849000{}:{}\n", name, now + 10,
               i % 1000, name[1] == 's' ? 0 : 8, now + 15);
    }
    file.add("MPI_Waitall:{}:2:140720308490000:140720308480000:{}\n", now + 40, now + 45);
  }
  file.add("MPI_Finalize:{}:-\n", now + 10);
  return folder;
}

// Writes the calls of write_liballprof() as dumpi2ascii prints them.
fs::path write_dumpi_text(const fs::path& folder, std::uint64_t bytes) {
  Writer file(folder / "trace-0000.txt");
  std::uint64_t ns = 0;
  const auto call = [&](const char* name, const std::string& arguments) {
    const auto time = [&](const char* word) {
      file.add("MPI_{} {} at walltime {}.{:09}, cputime 0.000000000 seconds in thread 0.\n", name, word,
               ns / 1'000'000'000, ns % 1'000'000'000);
    };
    time("entering");
    file.add("{}", arguments);
    ns += 5000;
    time("returning");
    ns += 10'000;
  };
  call("Init", "int argc=0\nstring argv[0]=<IGNORED>\n");
  for (std::uint64_t i = 0; file.bytes() < bytes; ++i) {
    for (const bool sends : {false, true}) {
      call(sends ? "Isend" : "Irecv",
           fmt::format("int count=100\nMPI_Datatype datatype=14 (MPI_DOUBLE)\nint {}=0\nint tag={}\n"
                       "MPI_Comm comm=2 (MPI_COMM_WORLD)\nMPI_Request request=[{}]\n",
                       sends ? "dest" : "source", i % 1000, sends ? 3 : 2));
    }
    call("Waitall", "int count=2\nMPI_Request requests[2]=[2, 3]\nMPI_Status statuses[2]=<IGNORED>\n");
  }
  call("Finalize", "");
  return folder;
}

// Two GPUs, of which the first wrote a profile: of 12 host events one launches a kernel, of 300 one a
// collective.
fs::path write_kineto(const fs::path& folder, std::uint64_t bytes) {
  const fs::path path = folder / "rank0.json";
  Writer file(path);
  file.add(
      "{{\n  \"schemaVersion\": 1,\n  \"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": 0, "
      "\"world_size\": 2}},\n  \"traceEvents\": [\n");
  std::uint64_t ns = 4'458'676'963'715'000;
  const auto event = [&](const char* category, const char* name, int tid, int offset, int length,
                         const std::string& args) {
    const std::uint64_t at = ns + static_cast<std::uint64_t>(offset);
    file.add(
        "  {{\n    \"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": 2910249, \"tid\": {},\n"
        "    \"ts\": {}.{:03}, \"dur\": {}.{:03},\n    \"args\": {{\n      {}\n    }}\n  }},\n",
        category, name, tid, at / 1000, at % 1000, length / 1000, length % 1000, args);
  };
  for (std::uint64_t i = 0; file.bytes() < bytes; ++i, ns += 120'000) {
    for (int k = 0; k < 10; ++k) {
      event("cpu_op", k % 2 == 0 ? "aten::addmm" : "aten::as_strided", 1, 10'000 * k, 9'000,
            fmt::format("\"External id\": {},\"Record function id\": 0, \"Ev Idx\": {}", 12 * i, 12 * i));
    }
    const bool collective = i % 25 == 0;
    const std::string correlation = fmt::format("\"correlation\": {},\"External id\": {}", i + 1, 12 * i);
    const std::string what =
        "\"Collective name\": \"allreduce\", \"In msg nelems\": 2049000, \"Out msg nelems\": 2049000, "
        "\"Group size\": 2, \"dtype\": \"Float\", \"In split size\": \"[]\", \"Process Group Name\": \"0\", "
        "\"Process Group Ranks\": \"[0, 1]\"";
    if (collective) event("cpu_op", "record_param_comms", 1, 100'000, 9'000, what);
    event("cuda_runtime", "cudaLaunchKernel", 1, 102'000, 5'000, correlation);
    event("kernel",
          collective ? "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
                     : "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor>",
          collective ? 20 : 7, 112'000, 90'000,
          fmt::format("\"device\": 0, \"context\": 1, \"stream\": {}, {}", collective ? 20 : 7, correlation));
  }
  file.add("  {{\"name\": \"end\", \"ph\": \"i\", \"ts\": {}}}\n  ]\n}}\n", ns / 1000);
  return path;
}

// Two ranks that compute, exchange a message and reduce, over and over.
Graph exchanges(std::uint64_t rounds) {
  GraphBuilder builder;
  for (Rank rank = 0; rank < 2; ++rank) {
    OpIndex last = builder.add_calc(1000);
    for (std::uint64_t i = 0; i < rounds; ++i) {
      const OpIndex compute = builder.add_calc(2000 + i % 1000 * 1000);
      const auto tag = static_cast<std::uint32_t>(i % 1000);
      const OpIndex sent = builder.add_send(65536, 1 - rank, tag),
                    got = builder.add_recv(65536, 1 - rank, tag);
      builder.add_edge(last, compute);
      builder.add_edge(compute, sent);
      builder.add_edge(compute, got);
      last = builder.add_calc(500);
      builder.add_edge(sent, last);
      builder.add_edge(got, last);
    }
    builder.end_rank();
  }
  return builder.finish();
}

fs::path write_goal_text(const fs::path& folder, std::uint64_t bytes) {
  constexpr std::uint64_t kBytesOfRound = 288;
  const fs::path path = folder / "made_up.goal";
  write_text_file(exchanges(bytes / kBytesOfRound), path.string());
  return path;
}

fs::path write_chakra(const fs::path& folder, std::uint64_t bytes) {
  constexpr std::uint64_t kBytesOfRound = 350;
  const Graph graph = exchanges(bytes / kBytesOfRound);
  GraphRanks source(graph);
  write_chakra_files(source, (folder / "made_up").string() + ".et");
  return folder;
}

// The form with "workload_graph", of two ranks.
fs::path write_chakra_json(const fs::path& folder, std::uint64_t bytes) {
  for (int rank = 0; rank < 2; ++rank) {
    Writer file(folder / fmt::format("made_up.{}.json", rank));
    file.add("{{\"workload_graph\": [\n");
    for (std::uint64_t i = 1; file.bytes() < bytes / 2; i += 2) {
      file.add(
          "{{\"Id\": {}, \"Name\": \"aten::addmm\", \"NodeType\": 4, \"ctrlDeps\": [], \"data_deps\": [{}], "
          "\"runtime\": 12, \"is_cpu_op\": false}},\n",
          i, i > 1 ? std::to_string(i - 1) : "");
      file.add(
          "{{\"Id\": {}, \"Name\": \"ncclDevKernel_AllReduce\", \"NodeType\": 7, \"ctrlDeps\": [], "
          "\"data_deps\": [{}], \"runtime\": 318, \"is_cpu_op\": false, \"comm_type\": 0, "
          "\"comm_size\": 4194304}},\n",
          i + 1, i);
    }
    file.add(
        "{{\"Id\": 0, \"Name\": \"end\", \"NodeType\": 4, \"ctrlDeps\": [], \"data_deps\": [], "
        "\"runtime\": 1, \"is_cpu_op\": false}}]}}\n");
  }
  return folder;
}

const MadeUp kTraces[] = {{"spc", "spc", {}, write_spc},
                          {"liballprof", "liballprof", {}, write_liballprof},
                          {"DUMPI text", "dumpi", {}, write_dumpi_text},
                          {"kineto", "kineto", {{"alike", "true"}}, write_kineto},
                          {"chakra protobuf", "chakra", {}, write_chakra},
                          {"chakra JSON", "chakra", {}, write_chakra_json},
                          {"GOAL text", "goal", {}, write_goal_text}};

}  // namespace

std::span<const MadeUp> made_up_traces() { return kTraces; }

}  // namespace weft::goal::bench
