#include "row_kernels.hpp"

#include "engine/emit/emit.hpp"
#include "tests/support/catch.hpp"

#include <map>
#include <set>

using namespace pto;
using namespace pto::testing;

TEST_CASE("every operation of the catalogue has a C++ form, or is one of those nobody documents") {
    // Old spellings whose operation is a number that no page explains.
    const std::set<std::string> undocumented{"row_reduce", "col_reduce", "row_expand_binop", "col_expand_binop"};
    std::set<std::string> seen;
    for (const RowKernel& k : row_kernels()) {
        seen.insert(k.row);
        const emit::Emitted e = emit::emit(k.program, ascend950());
        INFO(k.name << "\n" << e.files.front().text);
        CHECK(e.complete == !undocumented.count(k.row));
        CHECK((e.files.front().text.find("no C++ form") != std::string::npos) == !e.complete);
    }
    for (const isa::OpRow& row : isa::Catalogue::builtin().rows())
        if (!row.construct) CHECK(seen.count(std::string(row.name)) == 1);
}
