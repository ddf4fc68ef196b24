#include "kernel/views/views.hpp"
#include "tests/support/catch.hpp"
TEST_CASE("placeholder is replaced below") { CHECK(xpto::views::clip_middle("abcdef", 4) == "ab…f"); }
