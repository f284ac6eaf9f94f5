// What holds for a whole packed file: communicators, collectives, metadata. For this folder only.
#pragma once

#include <cstdint>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/graph/rank_source.h"
#include "goal/pack/frame.h"
#include "goal/pack/info.h"
#include "goal/pack/pack.pb.h"

namespace weft::goal::pack {

struct FileTables {
  Rank ranks = 0;
  std::vector<goal::Communicator> communicators{{"world", {}}};
  std::vector<goal::Collective> collectives;

  std::uint32_t communicator_size(std::uint32_t comm) const {
    return ProgramFacts{.ranks = ranks, .communicators = communicators}.communicator_size(comm);
  }
};

// Takes communicators from the catalog whose block begins at `catalog_begin`, and the collectives from their
// blocks, which end there. Throws InputError where they do not fit each other.
FileTables read_tables(FrameReader& frames, const Catalog& catalog, std::uint64_t catalog_begin);
PackInfo info_of(const Catalog& catalog);

// Writes the blocks of collectives, and notes in the catalog where they begin.
void write_collectives(FrameWriter& frames, const std::vector<goal::Collective>& collectives,
                       Catalog& catalog);
// Fills in communicators and info.
void describe(const RankSource& graph, const PackInfo& info, Catalog& catalog);

}  // namespace weft::goal::pack
