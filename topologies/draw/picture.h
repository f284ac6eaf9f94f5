// A picture of a network for a slide or a page.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topologies/draw/layout.h"
#include "topologies/export/text_sink.h"

namespace weft::topologies {

inline constexpr std::uint32_t kFailedHost = 0xFFFFFFFFu;  // in PictureOptions::owner

struct PictureOptions {
  Arrangement arrangement = Arrangement::kAuto;
  // Load of each channel of the network, 0 (idle) to 1 (always busy): colours the links, each by the busier
  // of its directions. REQUIRES: one for each channel.
  std::optional<std::vector<double>> load;
  std::string load_title = "load";  // what the scale in the legend is of
  // Who has each host: nobody (0), kFailedHost, or a place in `owners` counted from 1. Colours endpoints, and
  // routers by whose endpoints they have most of, unless there is a load.
  std::vector<std::uint32_t> owner = {};  // by host; empty: no owners
  std::vector<std::string> owners = {};   // for the legend
  std::vector<std::string> notes = {};    // by host, shown where a pointer is on it; may be empty
};

// Writes an SVG 1.1 of 1600 x 900 with title and legend, and finishes the sink. In it, every link is a path
// of class "link", every switch a shape of class "switch" and every endpoint one of class "host"; endpoints
// that are too many to show are counted in the legend instead. Equal networks give equal files.
void write_svg(const Topology& topology, const PictureOptions& options, TextSink& out);

}  // namespace weft::topologies
