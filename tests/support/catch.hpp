#pragma once
/// Catch2 2 and 3 behind one include.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
using Catch::Approx;
