#include "congestion/controls/controls.h"

#include <array>

#include "congestion/controls/dctcp.h"
#include "congestion/controls/eqds.h"
#include "congestion/controls/fixed_window.h"
#include "congestion/controls/ndp.h"
#include "congestion/controls/nscc.h"
#include "congestion/controls/nscc_rccc.h"
#include "congestion/controls/rccc.h"

namespace weft::congestion {

std::span<const Control> controls() {
  static const std::array list{dctcp(), eqds(), fixed_window(), ndp(), nscc(), nscc_rccc(), rccc()};
  return list;
}

}  // namespace weft::congestion
