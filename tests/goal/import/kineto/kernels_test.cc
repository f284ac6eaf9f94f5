// Which calls a kernel of a profile carries out: those of a group, the rest of one, and none.
#include <catch2/catch.hpp>

#include "goal/check/check.h"
#include "goal/import/kineto/importer.h"
#include "tests/goal/import/kineto/profiles.h"

namespace weft::goal {

TEST_CASE("kineto: coalesced collectives, of which one kernel or several carry out all") {
  // Three calls are recorded one after the other; `kernels` are launched behind them, where the group ends.
  const auto imported = [](int kernels, bool bracket, PackInfo* info) {
    const fs::path at = folder("coalesced");
    std::vector<std::string> events;
    append(events, call(comm("_allgather_base", 7), 0, 1));
    for (const int elements : {10, 30, 50}) {
      events.push_back(
          event("cpu_op", "record_param_comms", 1, 40 + elements, 2, comm("_allgather_base", elements)));
    }
    const std::string args = "\"Collective name\": \"coalesced\", \"In msg nelems\": 0, \"dtype\": \"Byte\"";
    if (bracket) events.push_back(event("cpu_op", "record_param_comms", 1, 100, 50, args));
    for (int i = 0; i < kernels; ++i) {
      const std::string correlation = fmt::format("\"correlation\": {}", 2 + i);
      events.push_back(event("cuda_runtime", "cudaLaunchKernel", 1, 110 + 10 * i, 2, correlation));
      events.push_back(event("kernel", "ncclDevKernel_AllGather_RING_LL(x)", 9, 115 + 10 * i, 5,
                             "\"stream\": 9, " + correlation + (bracket ? ", " + args : "")));
    }
    append(events, call(comm("_allgather_base", 9), 200, 9));
    for (int rank = 0; rank < 2; ++rank) write(at / fmt::format("rank{}.json", rank), rank, 2, events);
    return import_kineto(at, {}, info);
  };
  // Whatever the number of kernels: each call's 4 bytes an element, once a rank.
  const std::map<std::string, int> all = {{"allgather 28", 2},
                                          {"allgather 40", 2},
                                          {"allgather 120", 2},
                                          {"allgather 200", 2},
                                          {"allgather 36", 2}};
  for (const bool bracket : {false, true}) {
    for (const int kernels : {1, 2, 3}) {
      CAPTURE(bracket, kernels);
      PackInfo info;
      const Graph graph = imported(kernels, bracket, &info);
      CHECK(collectives(graph) == all);
      CHECK(check(graph).clean());
      CHECK(anomalies(info, "calls_without_kernel") == 0);
      CHECK(anomalies(info, "communication_of_unknown_size") == 0);
    }
  }
  PackInfo info;
  CHECK(collectives(imported(0, false, &info)).size() == 2);
  CHECK(anomalies(info, "calls_without_kernel") == 6);
}

TEST_CASE("kineto: a kernel without a kind carries out all of its group") {
  const fs::path at = folder("generic");
  for (int rank = 0; rank < 2; ++rank) {
    const std::vector<std::string> events = {
        event("cpu_op", "record_param_comms", 1, 0, 2, comm("_allgather_base", 10)),
        event("cpu_op", "record_param_comms", 1, 4, 2, comm("allreduce", 30)),
        event("cuda_runtime", "hipExtLaunchKernel", 1, 10, 2, "\"correlation\": 1"),
        event("kernel", "ncclDevKernel_Generic_1(x)", 9, 15, 5, "\"stream\": 9, \"correlation\": 1")};
    write(at / fmt::format("rank{}.json", rank), rank, 2, events);
  }
  PackInfo info;
  CHECK(collectives(import_kineto(at, {}, &info)) ==
        std::map<std::string, int>{{"allgather 40", 2}, {"allreduce 120", 2}});
  CHECK(anomalies(info, "calls_without_kernel") == 0);
}

TEST_CASE("kineto: a collective in several kernels of one launch counts once") {
  const fs::path at = folder("continued");
  const std::string args = comm("all_to_all", 100);
  std::vector<std::string> events = {event("cpu_op", "record_param_comms", 1, 0, 30, args)};
  for (int i = 0; i < 2; ++i) {
    const std::string correlation = fmt::format("\"correlation\": {}", 1 + i);
    events.push_back(event("cuda_runtime", "cudaLaunchKernel", 1, 5 + 5 * i, 2, correlation));
    events.push_back(event("kernel", "ncclDevKernel_SendRecv(x)", 9, 20 + 10 * i, 10,
                           "\"stream\": 9, " + correlation + ", " + args));
  }
  for (int rank = 0; rank < 2; ++rank) write(at / fmt::format("rank{}.json", rank), rank, 2, events);
  PackInfo info;
  CHECK(collectives(import_kineto(at, {}, &info)) == std::map<std::string, int>{{"alltoall 200", 2}});
  CHECK(anomalies(info, "continued_kernels") == 2);
}

TEST_CASE("kineto: communication that no kernel of NCCL carries out is told") {
  const fs::path at = folder("others");
  std::vector<std::string> events = {event("cpu_op", "aten::mm", 1, 0, 50),
                                     event("cpu_op", "record_param_comms", 1, 60, 5, comm("allreduce", 8)),
                                     event("cpu_op", "record_param_comms", 1, 70, 5, comm("wait", 0))};
  write(at / "rank0.json", 0, 2, events);
  write(at / "rank1.json", 1, 2, events);
  PackInfo cpu_only;
  CHECK(collectives(import_kineto(at, {}, &cpu_only)).empty());
  CHECK(anomalies(cpu_only, "calls_without_kernel") == 2);
  events.pop_back(), events.pop_back();
  for (const char* name :
       {"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 4>(x)", "nvshmemi_put_kernel",
        "void deep_ep::internode::dispatch<false>(x)", "void c10d::multimem_all_reduce_kernel<x>",
        "void splitKreduce_kernel<32>(x)", "ampere_sgemm_128x64_nn"}) {
    events.push_back(event("kernel", name, 7, 60, 1, "\"stream\": 7"));
  }
  write(at / "rank0.json", 0, 1, events);
  fs::remove(at / "rank1.json");
  PackInfo info;
  import_kineto(at, {}, &info);
  CHECK(anomalies(info, "communication_in_other_kernels") == 4);
}

TEST_CASE("kineto: of messages that one side has more of, those are cut whose absence makes sizes fit") {
  // Rank 0 sends `sent` elements of 4 bytes, one message after the other; rank 1 receives `received`.
  const auto imported = [](const std::vector<int>& sent, const std::vector<int>& received, PackInfo* info) {
    const fs::path at = folder("uneven");
    for (int rank = 0; rank < 2; ++rank) {
      std::vector<std::string> events;
      int number = 0;
      for (const int elements : rank == 0 ? sent : received) {
        const auto peer = fmt::format(", \"{} Rank\": {}", rank == 0 ? "Dst" : "Src", 1 - rank);
        append(events, call(comm(rank == 0 ? "send" : "recv", elements, peer), 50 * number, number + 1));
        ++number;
      }
      write(at / fmt::format("rank{}.json", rank), rank, 2, events);
    }
    return import_kineto(at, {}, info);
  };
  // Bytes of the messages that are left, on each side.
  const auto sizes = [](const Graph& graph) {
    std::map<Rank, std::vector<std::uint64_t>> found;
    for (Rank rank = 0; rank < graph.ranks(); ++rank) {
      const RankView view = graph.rank(rank);
      for (OpIndex i = 0; i < view.ops(); ++i) {
        const bool message = view.kind(i) == OpKind::kSend || view.kind(i) == OpKind::kRecv;
        if (message) found[rank].push_back(view.value(i));
      }
    }
    return found;
  };
  using Sizes = std::map<Rank, std::vector<std::uint64_t>>;
  PackInfo of_last, of_first, of_others;
  const Graph last = imported({10, 20}, {10}, &of_last), first = imported({10, 20, 10}, {20, 10}, &of_first);
  CHECK(sizes(last) == Sizes{{0, {40}}, {1, {40}}});
  CHECK(sizes(first) == Sizes{{0, {80, 40}}, {1, {80, 40}}});
  CHECK(check(first).clean());
  for (const PackInfo* info : {&of_last, &of_first}) {
    CHECK(anomalies(*info, "communication_without_partner") == 1);
    CHECK(anomalies(*info, "messages_that_do_not_fit") == 0);
  }
  imported({10}, {9}, &of_others);
  CHECK(anomalies(of_others, "messages_that_do_not_fit") == 1);
}

TEST_CASE("kineto: splits that don't divide an all-to-all") {
  const auto told = [](const char* splits) {
    const fs::path at = folder("splits");
    const std::string args =
        comm("all_to_allv", 10, fmt::format(R"(, "In split size": "{0}", "Out split size": "{0}")", splits));
    for (int rank = 0; rank < 2; ++rank)
      write(at / fmt::format("rank{}.json", rank), rank, 2, call(args, 0, 1));
    PackInfo info;
    import_kineto(at, {}, &info);
    return anomalies(info, "sizes_that_do_not_fit");
  };
  CHECK(told("[5, 5]") == 0);
  CHECK(told("[1, 1]") == 0);  // rows of 5 elements
  CHECK(told("[3, 4]") == 4);  // 40 bytes in 7 rows: in and out, on two ranks
  CHECK(told("[0, 0]") == 4);
}

}  // namespace weft::goal
