#include "engine/ir/read_parts.hpp"

#include <cstdlib>

namespace pto::ir {

isa::DType DeclarationReader::dtype() {
    std::string w = word();
    auto t = isa::find_dtype(w);
    if (!t) fail("`" + w + "` is no type");
    return *t;
}

std::vector<Dim> DeclarationReader::dims() {
    std::vector<Dim> out;
    eat("[");
    while (!accept("]")) {
        if (accept("?")) out.push_back({true, 0});
        else out.push_back({false, number()});
        accept(",");
    }
    return out;
}

std::vector<Field> DeclarationReader::fields() {
    std::vector<Field> out;
    eat("{");
    while (!accept("}")) {
        Field f;
        f.name = word();
        eat(":");
        f.dtype = dtype();
        if (accept("[")) f.length = std::int32_t(number()), eat("]");
        out.push_back(std::move(f));
        accept(",");
    }
    return out;
}

ParamId DeclarationReader::param() {
    if (!accept("param")) return {};
    return ParamId{std::int32_t(number())};
}

std::array<std::int32_t, 2> DeclarationReader::extents() {
    std::array<std::int32_t, 2> out{};
    std::string w = word(); // 16x64
    out[0] = std::atoi(w.c_str());
    out[1] = std::atoi(w.c_str() + w.find('x') + 1);
    return out;
}

isa::TileType DeclarationReader::tile_type() {
    isa::TileType t;
    t.memory = member<isa::MemorySpace>(isa::EnumKind::MemorySpace);
    t.shape = t.valid = extents();
    t.dtype = dtype();
    t.layout = member<isa::Layout>(isa::EnumKind::Layout);
    if (accept("fractal")) t.fractal = std::int32_t(number());
    if (accept("pad")) t.pad = member<isa::TilePad>(isa::EnumKind::TilePad);
    if (accept("compact")) t.compact = std::uint8_t(number());
    if (accept("fixed")) t.fixed_valid = true, t.valid = extents();
    else if (accept("valid")) t.valid = extents();
    return t;
}

Param DeclarationReader::parameter() {
    Param p;
    p.name = name();
    if (accept("tensor")) {
        p.kind = ParamKind::tensor;
        p.dtype = dtype();
        p.layout = member<isa::Layout>(isa::EnumKind::Layout);
        p.dims = dims();
        p.is_static.assign(p.dims.size(), false);
        while (accept("static")) p.is_static.at(std::size_t(number())) = true;
    } else if (accept("pointer")) {
        p.kind = ParamKind::pointer;
        p.dtype = dtype();
    } else if (accept("scalar")) {
        p.kind = ParamKind::scalar;
        p.dtype = dtype();
    } else {
        eat("tiling");
        p.kind = ParamKind::tiling;
        p.class_name = name();
        p.fields = fields();
    }
    if (accept("=")) p.fallback = quoted();
    return p;
}

bool DeclarationReader::declarations() {
    bool more = next_line();
    for (; more; more = next_line()) {
        std::size_t begin = m_at;
        std::string w = peek_word();
        if (w == "tensor") {
            word(), indexed('g');
            Tensor t;
            t.name = tensor_name();
            t.dims = dims();
            t.dtype = dtype();
            t.layout = member<isa::Layout>(isa::EnumKind::Layout);
            t.param = param();
            m_f->tensors.push_back(std::move(t));
        } else if (w == "struct") {
            word(), indexed('s');
            Struct s;
            s.name = name();
            s.type_name = name();
            std::string count = word();
            s.count = std::atoi(count.c_str() + 1);
            s.fields = fields();
            s.param = param();
            m_f->structs.push_back(std::move(s));
        } else if (w == "tiles") {
            word(), indexed('d');
            m_f->decls.push_back(declaration());
        } else if (w == "vars") {
            word();
            do {
                Variable v;
                v.name = stem(word(), 0);
                eat(":");
                v.dtype = dtype();
                v.is_pointer = accept("pointer");
                v.param = param();
                m_f->vars.push_back(std::move(v));
            } while (accept(","));
        } else if (w == "handles") {
            word();
            do {
                TileVar t;
                t.name = stem(word(), 1);
                eat(":");
                while (peek_word().size() > 1 && peek_word()[0] == 'd' && digit(peek_word()[1])) t.may_be.push_back(TileDeclId{indexed('d')});
                if (accept("as")) t.type = tile_type();
                else t.type = (*m_f)[t.may_be.at(0)].type;
                m_f->tiles.push_back(std::move(t));
            } while (accept(","));
        } else if (w == "registers") {
            word();
            do {
                Register r;
                r.name = stem(word(), 1);
                eat(":");
                r.kind = accept("mask") ? RegKind::mask : accept("load") ? RegKind::unaligned_load : accept("store") ? RegKind::unaligned_store
                                                     : accept("address") ? RegKind::address : RegKind::vector;
                r.dtype = dtype();
                m_f->regs.push_back(std::move(r));
            } while (accept(","));
        } else {
            m_at = begin;
            break;
        }
    }
    return more;
}

std::string DeclarationReader::tensor_name() {
    skip();
    if (peek() == '-') {
        ++m_at;
        return {};
    }
    return word();
}

TileDecl DeclarationReader::declaration() {
    TileDecl d;
    d.name = name();
    d.type = tile_type();
    d.slot_bytes = d.type.byte_size();
    eat("at");
    do d.addresses.push_back(number());
    while (accept(","));
    if (accept("size")) d.slot_bytes = number();
    if (accept("locks"))
        do {
            d.mutex.emplace_back();
            do d.mutex.back().push_back(std::int32_t(number()));
            while (accept("+"));
        } while (accept(","));
    auto ids = [&](std::vector<std::int32_t>& into) {
        do into.push_back(std::int32_t(number()));
        while (accept(","));
    };
    if (accept("fwd")) ids(d.fwd_ids);
    if (accept("bwd")) ids(d.bwd_ids);
    d.is_group = accept("group");
    if (accept("cursor")) d.cursor = reference<VarId>('\0');
    return d;
}

} // namespace pto::ir
