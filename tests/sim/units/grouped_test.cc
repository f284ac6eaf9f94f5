#include "sim/units/grouped.h"

#include <catch2/catch.hpp>

namespace weft {

TEST_CASE("large numbers have their thousands apart, small ones two digits behind the point") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(7) == "7");
  CHECK(grouped(7.126) == "7.13");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(123456.7) == "123,457");
  CHECK(grouped(1234567) == "1,234,567");
}

}  // namespace weft
