#include "congestion/controls/controls.h"

#include <utility>
#include <vector>

#include "congestion/controls/dctcp.h"
#include "congestion/controls/fixed_window.h"
#include "sim/units/module_list.h"

namespace weft::congestion {
namespace {

std::vector<Control> built_in() {
  return {
      dctcp(),
      fixed_window(),
  };
}

ModuleList<Control>& list() {
  static ModuleList<Control> list("congestion control", built_in());
  return list;
}

}  // namespace

std::span<const Control> controls() { return list().all(); }
void add_control(Control control) { list().add(std::move(control)); }

}  // namespace weft::congestion
