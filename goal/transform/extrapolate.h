// From a program on n ranks to the same program on m.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "goal/anomaly.h"
#include "goal/graph/graph.h"
#include "goal/graph/rank_source.h"

namespace weft::goal {

struct ExtrapolateOptions {
  Rank ranks = 0;                   // of the new program
  std::vector<std::uint32_t> dims;  // of its grid; empty: the shape that is most like the old one
  // What a rank gives to an alltoall stays the same, and its blocks get smaller, as in a transposition;
  // otherwise each block stays the same.
  bool share_alltoalls = false;
};

// The program that the ranks of an SPMD program would run if there were more (or fewer) of them. The work of
// a rank stays what it is: sizes and compute times are those of a rank of the old program that lies alike
// (weak scaling). Recognized are programs whose ranks lie on a grid of up to three dimensions, numbered with
// the last coordinate fastest. Each dimension is a ring, a line, or fixed: then it does not grow, and each
// coordinate has a part of its own (layout.h). Ranks exchange messages with others at most two places away in
// each dimension, or anywhere in fixed ones, and call collectives on communicators that extend over some of
// the dimensions: rows, columns, planes, blocks, all, themselves (communicator_shapes.h). Ranks that lie
// alike must call the same but for compute times and, where nothing else fits, for sizes: then each new rank
// takes those of the ranks alike in turn, and receives are as long as what is sent. Binomial trees and
// alltoalls made of messages are made collectives first (recognize.h). *pattern, if given, gets words for
// what was found.
//
// Source: X. Wu, F. Mueller, "ScalaExtrap: Trace-Based Communication Extrapolation for SPMD Programs", PPoPP
// 2011.
//
// Throws InputError, with the reason, for any other program, and, with numbers that would do, for numbers of
// ranks that make no such grid.
Graph extrapolate(const Graph& graph, const ExtrapolateOptions& options, std::string* pattern = nullptr,
                  std::vector<Anomaly>* anomalies = nullptr);

// Returns the program that extrapolate() makes, of which one rank at a time is in memory, beside the old
// graph.
std::unique_ptr<RankSource> extrapolated_ranks(const Graph& graph, const ExtrapolateOptions& options,
                                               std::string* pattern = nullptr,
                                               std::vector<Anomaly>* anomalies = nullptr);

}  // namespace weft::goal
