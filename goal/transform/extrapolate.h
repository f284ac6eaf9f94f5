// From a program on n ranks to the same program on m.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "goal/anomaly.h"
#include "goal/graph/graph.h"

namespace weft::goal {

struct ExtrapolateOptions {
  Rank ranks = 0;                   // of the new program
  std::vector<std::uint32_t> dims;  // of its grid; empty: the shape that is most like the old one
};

// The program that the ranks of an SPMD program would run if there were more (or fewer) of them. The work of
// a rank stays what it is: sizes and compute times are those of a rank of the old program that lies alike
// (weak scaling). Recognized are programs whose ranks lie on a line, ring, grid or torus of up to three
// dimensions, numbered with the last coordinate fastest, exchange messages with ranks at most two places away
// in each dimension (diagonals included), and call collectives on all ranks; ranks that lie alike (the
// corners, the edges, the inside) must do the same but for compute times. Binomial trees and alltoalls made
// of messages are made collectives first (recognize.h). *pattern, if given, gets words for what was found.
//
// Source: X. Wu, F. Mueller, "ScalaExtrap: Trace-Based Communication Extrapolation for SPMD Programs", PPoPP
// 2011.
//
// Throws InputError, with the reason, for any other program, and for numbers of ranks that make no such grid.
Graph extrapolate(const Graph& graph, const ExtrapolateOptions& options, std::string* pattern = nullptr,
                  std::vector<Anomaly>* anomalies = nullptr);

}  // namespace weft::goal
