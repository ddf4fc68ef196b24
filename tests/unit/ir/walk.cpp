#include "engine/ir/walk.hpp"
#include "engine/isa/roles.hpp"

#include "engine/ir/read.hpp"
#include "tests/support/catch.hpp"

using namespace pto;
using namespace pto::ir;

namespace {

const char* text = R"(kernel k
vector:
  tensor g0 x[4, 64] fp32 ND param 0
  tiles d0 g Vec 16x64 fp32 ND at 0x0, 0x1000 locks 0, 1 group cursor g.cursor.0
  vars g.cursor.0: index, i.1: index
  handles %u.0: d0, %v.1: d0
  registers $r.0: fp32, $p.1: mask fp32
  for i.1 in 0, 4, 1 {
    if (i.1 < 2) {
      %u.0 = d0[(i.1 % 2)]
      load %u.0, g0, [i.1, 0] @MTE2
    }
    stage s task i.1 {
      mul_add_dst %u.0, %v.1, %u.0 @V
    }
    vector f(RW %u.0, i.1) {
      $r.0 = vf.load_align %u.0, (i.1 * 64) post_update=false
      vf.store_align %u.0, $r.0, $p.1, -
    }
  }
)";

} // namespace

TEST_CASE("walkers reach every statement, operation and expression") {
    Kernel k = read(text, isa::Catalogue::builtin());
    const Function& f = *k.vector;
    int statements = 0, variables = 0;
    std::vector<std::string_view> operations;
    for_each_statement(f.body, [&](const Stmt& s) {
        ++statements;
        for_each_expression(s, [&](ExprId root) {
            for_each_below(f, root, [&](const Expr& e) { variables += e.op == ExprOp::var; });
        });
    });
    for_each_op(f.body, [&](const Stmt&, const Op& op) { operations.push_back(op.row->name); });
    CHECK(statements == 9);
    CHECK(variables == 5);
    CHECK(operations == std::vector<std::string_view>{"load", "mul_add_dst", "vf.load_align", "vf.store_align"});
}

TEST_CASE("tile accesses follow the rows' roles") {
    Kernel k = read(text, isa::Catalogue::builtin());
    std::vector<std::pair<int, isa::Role>> seen;
    for_each_statement(k.vector->body, [&](const Stmt& s) {
        for (const TileAccess& a : tile_accesses(s)) seen.emplace_back(a.tile.index, a.role);
    });
    using R = isa::Role;
    // load writes; mul_add_dst reads and writes its destination and clobbers its first input; the vector call is one access, its parts follow
    std::vector<std::pair<int, R>> expected{{0, R::write}, {0, R::read_write}, {1, R::read_write}, {0, R::read}, {0, R::read_write}, {0, R::read}, {0, R::write}};
    CHECK(seen == expected);
    CHECK(isa::unite(R::read, R::write) == R::read_write);
    CHECK(isa::unite(R::none, R::read) == R::read);
    CHECK(isa::unite(R::write, R::none) == R::write);
}
