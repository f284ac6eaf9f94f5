#include "tests/fuzz/graphs.h"

#include <optional>
#include <string>

#include "goal/binary/binary.h"
#include "goal/check/check.h"
#include "goal/pack/pack.h"
#include "goal/text/text.h"
#include "tests/fuzz/fuzz.h"

namespace weft::fuzz {

void check_graph(const goal::Graph& graph, const goal::PackInfo& info, TextForm form) {
  const std::string text = goal::to_text(graph);
  const auto from_text = attempt([&] { return goal::parse_text(text, "text"); });
  require(from_text || form == TextForm::kMayBeRefused, "a graph whose own text is refused");
  if (from_text) {
    require(*from_text == graph, "another graph from its own text");
    require(goal::to_text(*from_text) == text, "the text of a graph that was read from it is another");
  }

  goal::PackInfo read;
  const goal::Graph from_pack = goal::parse_pack(goal::to_pack(graph, info), "pack", &read);
  require(from_pack == graph, "another graph from its own packed file");
  require(goal::to_text(from_pack) == text, "other labels from a packed file");
  require(read.metadata == info.metadata, "other metadata from a packed file");

  // Not every graph fits in there.
  const auto bytes = attempt([&] { return goal::to_binary(graph); });
  if (bytes) {
    const goal::Graph from_binary = goal::parse_binary(*bytes, "binary");
    require(from_binary.ops() == graph.ops() && from_binary.edges() == graph.edges(),
            "another graph from its own binary file");
    require(goal::to_binary(from_binary) == *bytes, "the binary file of a graph from it is another");
  }

  for (const goal::Finding& finding : goal::check(graph).findings) check_message(finding.sentence);
}

}  // namespace weft::fuzz
