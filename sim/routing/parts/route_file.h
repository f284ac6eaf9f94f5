// Files of names of hosts and switches, in which users give routes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units/input_error.h"
#include "sim/units/module.h"
#include "topologies/graph/topology.h"

namespace weft::routing {

// Goes through the lines of a file that aren't empty: names of nodes, with weights behind some. Names are
// those that `weft topo` prints, in quotes where they have blanks ("edge 0.1"), or h0, s0, hr0 as in its
// lists of links; a weight is =2. # begins a comment.
class RouteFile {
 public:
  struct Word {
    topologies::Vertex node = 0;
    double weight = 0;  // behind the name; 0: none is given
  };

  // The file that a policy's parameter `file` names. Throws InputError if it can't be read. The topology must
  // outlive it.
  RouteFile(const Parameters& parameters, const topologies::Topology& topology);

  // To the next line with words; false at the end. Throws InputError, with file and line, for a name that no
  // node has, and for a weight that is not above 0.
  bool next();
  const std::vector<Word>& words() const { return words_; }
  const std::string& name(topologies::Vertex node) const { return topology_.node(node).name; }
  const SourceLocation& at() const { return at_; }
  // "FILE:LINE: found 'the line', but expected …"
  [[noreturn]] void fail_expecting(const std::string& expected) const;
  [[noreturn]] void fail(const std::string& message) const { throw InputError(at_, message); }

 private:
  topologies::Vertex find(std::string_view name) const;
  void read_line();
  std::string_view quoted(std::size_t& place) const;
  double weight(std::string_view text) const;

  const topologies::Topology& topology_;
  std::string text_;
  std::string_view rest_, line_;  // line_: the present one
  SourceLocation at_;
  std::map<std::string, topologies::Vertex, std::less<>> nodes_;  // by name
  std::vector<Word> words_;
};

}  // namespace weft::routing
