// How fast graphs load and how large they are in each format; how fast they are checked.
//
//   bazel-bin/tools/bench/goal_formats/goal_formats [MILLIONS_OF_OPS [FOLDER]]
//
// The graph: 64 ranks, each a chain of steps as a traced stencil code has them: a calc of random length,
// sends and receives to and from four neighbours, and a calc that waits for all of them.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <random>
#include <string>

#include "goal/binary/binary.h"
#include "goal/check/check.h"
#include "goal/pack/pack.h"
#include "goal/read_graph.h"
#include "goal/text/text.h"

namespace weft::goal {
namespace {

// Bytes of a message: different for each, and the same at both ends.
std::uint64_t message_bytes(Rank sender, std::uint64_t step, std::uint32_t side) {
  std::uint64_t mixed = ((std::uint64_t{sender} * 4 + side) << 40 | step) * 0x9E3779B97F4A7C15ULL;
  mixed = (mixed ^ (mixed >> 32)) * 0xBF58476D1CE4E5B9ULL;
  return 8 * (1000 + (mixed >> 40) % 200);
}

Graph stencil(std::uint64_t ops) {
  constexpr Rank kSide = 8, kRanks = kSide * kSide;
  constexpr std::uint64_t kOpsPerStep = 10;
  GraphBuilder builder;
  std::mt19937_64 random(1);
  for (Rank rank = 0; rank < kRanks; ++rank) {
    const Rank x = rank % kSide, y = rank / kSide;
    const Rank neighbours[4] = {y * kSide + (x + 1) % kSide, y * kSide + (x + kSide - 1) % kSide,
                                (y + 1) % kSide * kSide + x, (y + kSide - 1) % kSide * kSide + x};
    OpIndex before = 0;
    for (std::uint64_t step = 0; step < ops / kRanks / kOpsPerStep; ++step) {
      const OpIndex begin = builder.add_calc(100'000 + random() % 20'000);
      if (step > 0) builder.add_edge(before, begin);
      before = begin + kOpsPerStep - 1;
      for (std::uint32_t side = 0; side < 4; ++side) {
        const Rank from = neighbours[side ^ 1];
        builder.add_edge(begin, builder.add_recv(message_bytes(from, step, side), from, side));
        builder.add_edge(begin, builder.add_send(message_bytes(rank, step, side), neighbours[side], side));
      }
      builder.add_calc(500 + random() % 1000);
      for (OpIndex i = begin + 1; i < before; ++i) builder.add_edge(i, before);
    }
    builder.end_rank();
  }
  return builder.finish();
}

template <typename Work>
double seconds(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int run(double millions, const std::filesystem::path& folder) {
  const Graph graph = stencil(static_cast<std::uint64_t>(millions * 1e6));
  const double ops = static_cast<double>(graph.ops());
  std::printf("%.1f million operations, %.1f million edges, %.0f MB in memory (%.1f bytes an operation)\n",
              ops / 1e6, static_cast<double>(graph.edges()) / 1e6,
              static_cast<double>(graph.memory_bytes()) / 1e6,
              static_cast<double>(graph.memory_bytes()) / ops);
  std::printf("%-8s %10s %10s %10s %12s\n", "format", "write s", "load s", "MB", "bytes per op");
  bool right = true;
  const auto measure = [&](const char* name, const std::string& suffix, const auto& write) {
    const std::filesystem::path path = folder / ("weft_goal_formats" + suffix);
    const double writing = seconds([&] { write(path.string()); });
    bool same = false;
    const double loading = seconds([&] {
      const Graph loaded = read_graph(path.string());
      same = loaded.ops() == graph.ops();
    });
    right = right && same && read_graph(path.string()) == graph;
    const auto size = static_cast<double>(std::filesystem::file_size(path));
    std::printf("%-8s %10.2f %10.2f %10.0f %12.1f\n", name, writing, loading, size / 1e6, size / ops);
    std::filesystem::remove(path);
  };
  measure("text", ".goal", [&](const std::string& path) { write_text_file(graph, path); });
  measure("binary", ".bin", [&](const std::string& path) { write_binary_file(graph, path); });
  measure("pack", ".weft", [&](const std::string& path) { write_pack_file(graph, {}, path); });
  bool sound = false;
  std::printf("check    %10.2f s\n", seconds([&] { sound = check(graph).clean(); }));
  right = right && sound;
  if (!right) std::fprintf(stderr, "a format did not give the same graph back, or a check found something\n");
  return right ? 0 : 1;
}

}  // namespace
}  // namespace weft::goal

int main(int argc, char** argv) {
  try {
    return weft::goal::run(argc > 1 ? std::atof(argv[1]) : 10, argc > 2
                                                                   ? std::filesystem::path(argv[2])
                                                                   : std::filesystem::temp_directory_path());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "goal_formats: %s\n", error.what());
    return 1;
  }
}
