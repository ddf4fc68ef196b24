#include "tests/support/catch.hpp"

#include "engine/isa/catalogue.hpp"
#include "engine/isa/timing_key.hpp"

#include <set>

using namespace pto::isa;

namespace {
const Catalogue& all() { return Catalogue::builtin(); }
std::string_view chosen(std::string_view name, CallShape call) {
    const OpRow* row = all().choose(name, call);
    return row ? row->name : std::string_view("(none)");
}
} // namespace

TEST_CASE("every row is complete", "[isa]") {
    for (const OpRow& r : all().rows()) {
        INFO(r.name);
        CHECK_FALSE(r.doc.empty());
        CHECK(r.doc.size() >= 12);
        CHECK((r.doc.back() == '.' || r.doc.back() == ')'));
        CHECK(r.source.substr(0, 9) == "language ");
        CHECK_FALSE(r.family.empty());
        CHECK((r.construct || !r.timing.empty()));
        std::set<std::string_view> names;
        bool optional = false;
        for (const Operand& o : r.operands) {
            CHECK_FALSE(o.name.empty());
            CHECK(names.insert(o.name).second);
            // A required operand after an optional one could never be given by position.
            CHECK_FALSE((optional && !o.optional));
            optional = optional || o.optional;
            CHECK(o.dtypes != 0);
            CHECK(o.memories != 0);
        }
        for (const Keyword& k : r.keywords) {
            CHECK(names.insert(k.name).second);
            CHECK_FALSE((k.required && !k.fallback.empty()));
            if (k.kind == KeywordKind::enumeration) {
                REQUIRE(k.enumeration != EnumKind::count);
                if (!k.fallback.empty()) CHECK(find_enum(name(k.enumeration), k.fallback));
            }
            if (k.kind == KeywordKind::dtype && !k.fallback.empty()) CHECK(find_dtype(k.fallback));
        }
    }
}

TEST_CASE("roles fit the operation", "[isa]") {
    for (const OpRow& r : all().rows()) {
        INFO(r.name);
        if (r.construct || r.descriptor_only) continue;
        int written = 0, tiles = 0;
        for (const Operand& o : r.operands) {
            bool memory = o.kind == OperandKind::tile || o.kind == OperandKind::tensor || o.kind == OperandKind::memory;
            tiles += memory;
            written += memory && writes(o.role);
        }
        if (r.pipe == PipeRule::v && r.semantics != Semantics::simt_launch && r.semantics != Semantics::dump) CHECK(written >= 1);
        if (r.pipe == PipeRule::m || r.pipe == PipeRule::mte2 || r.pipe == PipeRule::mte3 || r.pipe == PipeRule::by_source)
            if (tiles > 0) CHECK(written >= 1);
        if (r.semantics == Semantics::clobbering) CHECK(writes(r.operands[1].role));
        if (r.pipe == PipeRule::in_vector) CHECK(r.name.substr(0, 3) == "vf.");
    }
    CHECK(all().find("matmul_acc")->operand("acc")->role == Role::read_write);
    CHECK(all().find("mul_add_dst")->operand("out")->role == Role::read_write);
    CHECK(all().find("mul_add_dst")->operand("lhs")->role == Role::read_write);
    CHECK(all().find("axpy")->operand("out")->role == Role::read_write);
    CHECK(all().find("load")->operand("dst")->role == Role::write);
    CHECK(all().find("sum")->operand("tmp")->role == Role::none);
}

TEST_CASE("names are found, and hidden names say what to write instead", "[isa]") {
    CHECK(all().find("load") != nullptr);
    CHECK(all().find("vf.exp_sub") != nullptr);
    CHECK(all().find("no_such_thing") == nullptr);
    CHECK(all().find("") == nullptr);
    int hidden = 0;
    for (const OpRow& r : all().rows()) {
        if (r.hidden_for.empty()) continue;
        INFO(r.name);
        ++hidden;
        const OpRow* instead = all().find(r.hidden_for);
        REQUIRE(instead != nullptr);
        CHECK(instead->hidden_for.empty());
    }
    CHECK(hidden > 40);
    for (const char* name : {"muls", "adds", "row_sum", "row_expand_sub", "cmp", "gemv", "ub_copy", "full"}) CHECK_FALSE(all().find(name)->hidden_for.empty());
    CHECK(all().find("row_sum")->fixed_dim == 0);
    CHECK(all().find("col_sum")->fixed_dim == 1);
    CHECK(all().find("sum")->fixed_dim == -1);
}

TEST_CASE("two rows of one name are refused", "[isa]") {
    Catalogue c = Catalogue::copy_of_builtin();
    OpRow again;
    again.name = "load";
    CHECK_THROWS_AS(c.add(again), std::invalid_argument);
}

TEST_CASE("a call chooses its form", "[isa]") {
    using K = OperandKind;
    CHECK(chosen("maximum", {{K::tile, K::tile, K::tile}, {}}) == "maximum");
    CHECK(chosen("maximum", {{K::tile, K::tile, K::scalar}, {}}) == "maximum");
    CHECK(chosen("maximum", {{K::tile, K::tile, K::tile}, {"dim"}}) == "maximum.reduce");
    CHECK(chosen("minimum", {{K::tile, K::tile, K::tile}, {"dim"}}) == "minimum.reduce");
    CHECK(chosen("gather", {{K::tile, K::tile, K::tile, K::tile}, {}}) == "gather");
    CHECK(chosen("gather", {{K::tile, K::tile, K::tile, K::tile, K::tile}, {"cmp_mode"}}) == "gather.compare");
    CHECK(chosen("vf.store_align", {{K::memory, K::reg, K::mask}, {}}) == "vf.store_align");
    CHECK(chosen("vf.store_align", {{K::memory, K::reg, K::reg, K::mask}, {"dist"}}) == "vf.store_align.pair");
    CHECK(chosen("vf.store_align", {{K::memory, K::mask}, {}}) == "vf.store_align.mask");
    CHECK(chosen("vf.load_align", {{K::memory}, {"dist"}}) == "vf.load_align");
    CHECK(chosen("vf.load_align", {{K::memory, K::mask}, {}}) == "vf.load_align.blocks");
    CHECK(chosen("vf.load_unalign", {{K::unaligned, K::memory, K::scalar}, {}}) == "vf.load_unalign.carry_first");
    CHECK(chosen("nonsense", {}) == "(none)");
    for (const OpRow& r : all().rows()) {
        if (r.form.of.empty()) continue;
        INFO(r.name);
        CHECK(all().find(r.form.of) != nullptr); // the plain row of the written name
        CHECK(r.name.substr(0, r.form.of.size() + 1) == std::string(r.form.of) + ".");
    }
}

TEST_CASE("misspelt names find their neighbours", "[isa]") {
    auto best = [](std::string_view name) {
        auto n = all().nearest(name);
        return n.empty() ? std::string_view("(none)") : n.front();
    };
    CHECK(best("matmull") == "matmul");
    CHECK(best("stor") == "store");
    CHECK(best("vf.exp_subb") == "vf.exp_sub");
    CHECK(best("system.sync_scr") == "system.sync_src");
    CHECK(all().nearest("zzzzzzzzzzzzzzzzzzzzzz").empty());
    for (std::string_view n : all().nearest("maximun")) CHECK(n.find("reduce") == std::string_view::npos);
}

TEST_CASE("a throw-away row is found like any other", "[isa]") {
    Catalogue c = Catalogue::copy_of_builtin();
    OpRow r;
    r.name = "twice";
    r.family = "vector";
    r.doc = "out = 2 * src.";
    c.add(r);
    CHECK(c.find("twice") != nullptr);
    CHECK(all().find("twice") == nullptr);
    CHECK(c.nearest("twicee").front() == "twice");
}

// Every operation and word that the frequency table of the language reference (9.2) names.
TEST_CASE("what kernels use has a row", "[isa]") {
    for (const char* name :
         {"TileType", "section_vector", "load", "store", "make_tile_group", "range", "section_cube", "move", "group.next", "make_tile", "matmul", "system.sync_src",
          "system.sync_dst", "group.current", "add", "store_tile", "load_tile", "system.bar_all", "vf.create_mask", "vf.store_align", "vf.load_align", "setval", "sub",
          "set_validshape", "struct", "system.wait_cross_core", "system.set_cross_core", "get_subblock_idx", "min", "struct_array", "mul", "get_block_idx", "matmul_acc",
          "exp", "get_block_num", "insert", "vf.muls", "get_subblock_num", "make_tuple", "cast", "system.set_mm_layout_transform", "dump_data", "vf.add", "vf.astype",
          "vf.full", "maximum", "sum", "printf", "vf.update_mask", "vf.max", "expand_sub", "expand_div", "expand_mul", "max", "vf.mul", "vf.de_interleave", "vf.div",
          "vf.exp_sub", "vf.mem_bar", "simt.launch", "pto_assert", "vf.select", "vf.ge", "vf.abs", "div", "make_tensor", "expands", "relu", "histogram", "getval",
          "vf.reduce_sum", "vf.adds", "vf.move", "fillpad", "set_stride",
          // used by two to five kernels
          "vf.and_", "vf.sub", "vf.reduce_max", "vf.unalign_reg_for_store", "vf.store_unalign_post", "vf.arange", "vf.squeeze", "vf.store_unalign", "vf.xor",
          "vf.mul_add_dst", "vf.shift_right", "vf.or_", "select", "matmul_mx", "minimum", "vf.gt", "vf.gather", "vf.exp", "vf.sqrt", "vf.unpack", "vf.load", "vf.store",
          "vf.create_addr_reg", "matmul_mx_acc", "gather", "gathermask", "row_expand_sub", "row_sum", "rsqrt", "const", "vf.clear_spr", "vf.eq", "vf.histograms", "vf.lt",
          "eq", "pipeline.PipelineConfig", "vf.min", "muls", "constexpr", "neg", "system.bar_mte2", "vf.shift_left", "vf.reduce_min", "vf.abs_sub", "vf.interleave",
          "vf.load_unalign_init", "vf.load_unalign_pre", "vf.load_unalign", "vf.get_mask_spr", "vf.pack", "vf.muls_cast", "ssbuf_load", "ssbuf_store", "transpose",
          "argmax", "argmin", "expand_max", "expand_min", "sort32", "gt", "set_vec_mask",
          // named in the tables of sections 3 to 6
          "xor", "shl", "shr", "log", "sqrt", "recip", "abs", "fill_index", "add_relu", "sub_relu", "add_relu_cast", "sub_relu_cast", "mul_cast", "addc", "mul_add_dst",
          "fused_mul_add", "fused_mul_add_relu", "axpy", "partadd", "partmax", "partmin", "partmul", "ne", "lt", "le", "ge", "quant", "dequant", "gatherb", "scatter",
          "mrgsort", "mrgsort2", "set_mask_count", "set_mask_norm", "reset_mask", "system.dcci", "system.bar_m", "system.bar_mte1", "system.bar_mte3", "system.bar_fix",
          "system.sync_all", "system.mutex_lock", "system.mutex_unlock", "mutex.mutex_lock", "mutex.mutex_unlock", "trap", "vf.mask_gen_with_reg_tensor", "vf.scatter",
          "vf.maxs", "vf.mins", "vf.subs", "vf.neg", "vf.relu", "vf.leaky_relu", "vf.prelu", "vf.ln", "vf.log", "vf.log2", "vf.log10", "vf.axpy", "vf.mul_dst_add",
          "vf.mull", "vf.addc", "vf.subc", "vf.not_", "vf.ne", "vf.le", "vf.truncate", "vf.bit_cast", "vf.pair_reduce_sum", "vf.unsqueeze", "simt.thread_idx"}) {
        INFO(name);
        CHECK(all().find(name) != nullptr);
    }
}

TEST_CASE("element types know their names", "[isa]") {
    for (int i = 0; i < dtype_count; ++i) {
        DType t = DType(i);
        INFO(name(t));
        CHECK(find_dtype(name(t)) == t);
        if (!language_name(t).empty()) CHECK(find_dtype(language_name(t)) == t);
        CHECK((bits(t) == 4 || bits(t) % 8 == 0));
    }
    CHECK(bytes(DType::fp4e2m1, 3) == 2);
    CHECK_FALSE(is_scalar(DType::fp8e4m3));
    CHECK(find_enum("RoundMode", "CAST_ROUND")->as<RoundMode>() == RoundMode::round);
    CHECK_FALSE(find_enum("RoundMode", "CAST_HYBRID"));
}

TEST_CASE("timing keys name the path and the type", "[isa]") {
    using M = MemorySpace;
    CHECK(timing_key(*all().find("load"), {.destination = M::vec}) == "path.gm_vec");
    CHECK(timing_key(*all().find("store"), {.source = M::acc}) == "path.acc_gm");
    CHECK(timing_key(*all().find("move"), {.source = M::acc, .destination = M::vec, .dual = true}) == "path.acc_vec_dual");
    CHECK(timing_key(*all().find("move"), {.source = M::mat, .destination = M::scale_left}) == "path.mat_scale_left");
    CHECK(timing_key(*all().find("insert"), {}) == "path.vec_mat");
    CHECK(timing_key(*all().find("matmul_acc"), {.dtype = DType::bf16}) == "cube.bf16");
    CHECK(timing_key(*all().find("exp"), {}) == "vector.special");
    CHECK(timing_key(*all().find("add"), {}) == "vector.add");
    CHECK(timing_key(*all().find("add"), {.scalar = true}) == "vector.add_scalar");
    CHECK(timing_key(*all().find("div"), {.scalar = true}) == "vector.div_scalar");
    CHECK(timing_key(*all().find("and_"), {.scalar = true}) == "vector.add_scalar");
}
