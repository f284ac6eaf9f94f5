// A node from NCCL's topology file (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE): cpu, pci, gpu, nvlink, nic and net.
// Format: NCCL 2.30, src/graph/xml.cc (https://github.com/NVIDIA/nccl). Files that machines' makers publish
// often leave out what NCCL finds by itself at run time; the remarks say what was put in its place.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "goal/collectives/nccl/node.h"

namespace weft::goal::nccl {

struct NodeFromXml {
  Node node;
  std::vector<std::string> remarks;  // sentences for the user
};

// `file` is for messages. Where the file tells neither the kind of its GPUs nor NVLinks, they are those of
// `otherwise`, or A100 without NVLink. Throws InputError with line and column for what is no XML, no such
// topology, or has no GPU or more than 1024.
NodeFromXml read_topology(std::string_view text, const std::string& file, const Node* otherwise = nullptr);

}  // namespace weft::goal::nccl
