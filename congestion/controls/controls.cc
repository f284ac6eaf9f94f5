#include "congestion/controls/controls.h"

#include <array>

#include "congestion/controls/dcqcn.h"
#include "congestion/controls/dctcp.h"
#include "congestion/controls/fixed_window.h"
#include "congestion/controls/mprdma.h"
#include "congestion/controls/swift.h"
#include "congestion/controls/timely.h"

namespace weft::congestion {

// The first one is the default; the others by name.
std::span<const Control> controls() {
  static const std::array list{
      dctcp(),         //
      dcqcn(),         //
      fixed_window(),  //
      mprdma(),        //
      swift(),         //
      timely(),        //
  };
  return list;
}

}  // namespace weft::congestion
