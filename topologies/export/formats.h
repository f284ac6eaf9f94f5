// The file formats a network can be written in.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topologies/export/text_sink.h"
#include "topologies/graph/topology.h"

namespace weft::topologies {

// One format. README.md says what each holds.
struct Format {
  std::string name;     // as users write it: "graphml"
  std::string summary;  // a few words
  // Writes all of the network and finishes the sink. Throws InputError that says why if the format can't
  // hold this network, before anything is written.
  void (*write)(const Topology& topology, TextSink& out);
  bool loses_shape = false;   // weft reads it back, but without what shape_facts() tells
  bool loses_groups = false;  // … and without groups of its nodes and latencies of switches
};

// What routing and placement know of this network beside its links, for people: "that its
// switches are a grid of 4x4".
std::vector<std::string> shape_facts(const Topology& topology);
// A sentence about those of them that are lost when it is read back; "": none.
std::string lost_facts(const Topology& topology, const Format& format);

// In the order of the documentation.
std::span<const Format> formats();
// Throws InputError with the nearest name for an unknown one.
const Format& find_format(std::string_view name);
// By the end of a file's name: .graphml or .xml, .dot or .gv, .edges, .csv or .txt, .json, .topo. Throws
// InputError for others.
const Format& format_of_file(const std::string& path);

// GraphML, http://graphml.graphdrawing.org: every attribute of nodes and links.
void write_graphml(const Topology& topology, TextSink& out);
// The language of Graphviz, https://graphviz.org/doc/info/lang.html.
void write_dot(const Topology& topology, TextSink& out);
// One link a line: from to rate latency, and the loss where there is some. Hosts are h0, h1 …; switches are
// s0, s1 …, but hr0, hr1 … if they are routers inside hosts.
void write_edges(const Topology& topology, TextSink& out);
// JSON, RFC 8259: the arrays "nodes" and "links".
void write_json(const Topology& topology, TextSink& out);
// The fat tree files of htsim (sim/datacenter/fat_tree_topology.cpp of Broadcom/csg-htsim reads them): trees
// of two or three tiers, all alike, in which rates are whole Gb/s and latencies whole nanoseconds.
void write_htsim_topo(const Topology& topology, TextSink& out);

// Words for attributes in files: "host" or "switch"; "unknown", "backplane", "copper", "optical" or
// "long_haul".
std::string_view kind_name(NodeKind kind);
std::string_view cable_name(CableKind cable);
// The kind with that name. Throws InputError with the names there are.
CableKind parse_cable(std::string_view name);

}  // namespace weft::topologies
