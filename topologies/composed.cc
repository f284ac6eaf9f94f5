#include "topologies/composed.h"

#include <fmt/format.h>

#include "topologies/families/cabling.h"
#include "topologies/random_equivalent.h"
#include "topologies/scale_up.h"

namespace weft::topologies {

std::vector<ParameterSpec> with_inner_network(std::vector<ParameterSpec> own) {
  own.insert(own.begin(),
             {"of", ParameterType::kText, "", "The other network, written like [slim_fly:q=5]."});
  for (ParameterSpec& spec : with_cabling({})) {
    spec.default_value = "auto";
    spec.help = "As for other networks; auto: as `of` has it.";
    own.push_back(std::move(spec));
  }
  return own;
}

ModuleChoice read_inner_network(const Parameters& parameters) {
  std::string_view text = parameters.text("of");
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') {
    text = text.substr(1, text.size() - 2);
  }
  if (text.empty()) parameters.fail("of", "it must be another network, written like [slim_fly:q=5]");
  ModuleChoice inner = parse_module_choice(text);
  for (const ParameterSpec& spec : with_cabling({})) {
    if (parameters.automatic(spec.name)) continue;
    if (inner.given.contains(spec.name)) {
      parameters.fail(spec.name, "`of` gives it too; leave one of them out");
    }
    inner.given[spec.name] = parameters.text(spec.name);
  }
  return inner;
}

std::vector<Family> composed_families() { return {random_equivalent_family(), scale_up_family()}; }

}  // namespace weft::topologies
