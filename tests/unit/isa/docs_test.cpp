#include "tests/support/catch.hpp"

#include "engine/isa/print_docs.hpp"

#include <fstream>
#include <sstream>

using namespace pto::isa;

TEST_CASE("signatures read as the language writes them", "[isa]") {
    const Catalogue& all = Catalogue::builtin();
    CHECK(signature(*all.find("load")) == "pl.load(dst, src, offsets, *, order=None)");
    CHECK(signature(*all.find("matmul")) == "pl.matmul(dst, lhs, rhs, bias=None, *, phase=None)");
    CHECK(signature(*all.find("vf.add")) == "vf.add(a, b, preg, mode=ZEROING)");
    CHECK(signature(*all.find("maximum.reduce")) == "pl.maximum(out, src, tmp, *, dim)");
    CHECK(signature(*all.find("printf")) == "pl.printf(fmt, *args, loc=False)");
    CHECK(signature(*all.find("system.bar_all")) == "pl.system.bar_all()");
    CHECK(signature(*all.find("system.sync_src")) == "pl.system.sync_src(*, set_pipe, wait_pipe, event_id)");
    CHECK(describe_arguments(*all.find("insert")) == "- `dst`: tile in Mat, written\n- `src`: tile in Vec, read\n- `offset`: list of scalars\n");
}

TEST_CASE("every row is on the page", "[isa]") {
    std::string page = print_docs(Catalogue::builtin());
    for (const OpRow& r : Catalogue::builtin().rows()) {
        INFO(r.name);
        CHECK(page.find("`" + signature(r) + "`") != std::string::npos);
    }
}

TEST_CASE("docs/language.md is current", "[isa]") {
    std::ifstream file("docs/language.md");
    std::stringstream text;
    text << file.rdbuf();
    INFO("run xpto_language_page docs/language.md and commit the page");
    const bool current = text.str() == print_docs(Catalogue::builtin()); // the pages themselves are too long to print
    CHECK(current);
}
