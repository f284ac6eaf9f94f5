#include "goal/import/liballprof/signatures.h"

#include <string>
#include <unordered_map>
#include <utility>

namespace weft::goal {
namespace {

using How = CommCreation::How;

struct Row {
  const char* names;  // without "MPI_", separated by blanks
  const char* arguments;
  How how = How::kUnknown;
};

constexpr Row kRows[] = {
    {"Send Bsend Ssend Rsend", "xntdgm"},
    {"Recv", "xntdgmx"},
    {"Isend Ibsend Issend Irsend Irecv Send_init Bsend_init Ssend_init Rsend_init Recv_init", "xntdgmq"},
    {"Start Request_free Cancel", "q"},
    {"Startall", "cQ"},
    {"Wait", "qx"},
    {"Waitall", "cQx"},
    {"Waitany", "cQxx"},
    {"Waitsome", "cQxxx"},
    {"Test", "qxx"},
    {"Testall", "cQxx"},
    {"Testany Testsome", "cQxxx"},
    {"Probe", "dgmx"},
    {"Iprobe", "dgmxx"},
    {"Sendrecv", "xntdgxNTDGmx"},
    {"Sendrecv_replace", "xntdgDGmx"},
    {"Barrier", "m"},
    {"Ibarrier", "mq"},
    {"Bcast", "xntrm"},
    {"Ibcast", "xntrmq"},
    {"Reduce", "xxntxrm"},
    {"Ireduce", "xxntxrmq"},
    {"Allreduce Scan Exscan", "xxntxm"},
    {"Iallreduce Iscan Iexscan", "xxntxmq"},
    {"Reduce_scatter", "xxWtxm"},
    {"Ireduce_scatter", "xxWtxmq"},
    {"Reduce_scatter_block", "xxNtxm"},
    {"Ireduce_scatter_block", "xxNtxmq"},
    {"Gather", "IntxNTrm"},
    {"Igather", "IntxNTrmq"},
    {"Gatherv", "IntxWATrm"},
    {"Igatherv", "IntxWATrmq"},
    {"Scatter", "xntxNTrm"},
    {"Iscatter", "xntxNTrmq"},
    {"Scatterv", "xVAtxNTrm"},
    {"Iscatterv", "xVAtxNTrmq"},
    {"Allgather Alltoall", "IntxNTm"},
    {"Iallgather Ialltoall", "IntxNTmq"},
    {"Allgatherv", "IntxWATm"},
    {"Iallgatherv", "IntxWATmq"},
    {"Alltoallv", "IVAtxWATm"},
    {"Ialltoallv", "IVAtxWATmq"},
    {"Comm_dup Comm_dup_with_info Cart_create Graph_create Dist_graph_create Dist_graph_create_adjacent",
     "m*", How::kSame},
    {"Comm_idup", "mxq", How::kSame},
    {"Comm_split", "mky*", How::kSplit},
    {"Comm_create Cart_sub Comm_split_type", "m*"},
    {"Init Init_thread Finalize", "*"},
};

using Table = std::unordered_map<std::string, AllprofSignature>;

Table make_table() {
  Table table;
  for (const Row& row : kRows) {
    std::string_view names = row.names;
    while (!names.empty()) {
      const std::size_t end = std::min(names.find(' '), names.size());
      const std::string name = "MPI_" + std::string(names.substr(0, end));
      AllprofSignature& made = table[name];
      made = {table.find(name)->first, row.arguments, function_of(name), row.how};
      names.remove_prefix(std::min(end + 1, names.size()));
    }
  }
  return table;
}

}  // namespace

const AllprofSignature* allprof_signature(std::string_view name) {
  static const Table kTable = make_table();
  const auto found = kTable.find(std::string(name));
  return found == kTable.end() ? nullptr : &found->second;
}

}  // namespace weft::goal
