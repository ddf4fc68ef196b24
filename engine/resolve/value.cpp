#include "engine/resolve/value.hpp"

#include "engine/resolve/tile_types.hpp"

namespace pto::resolve {

Value text_value(Kind kind, std::string text) {
    auto more = std::make_shared<More>();
    more->text = std::move(text);
    Value v;
    v.kind = kind;
    v.more = std::move(more);
    return v;
}

Value tuple_value(std::vector<Value> elements, bool is_list) {
    auto more = std::make_shared<More>();
    more->elements = std::move(elements);
    Value v;
    v.kind = Kind::tuple;
    v.is_list = is_list;
    v.more = std::move(more);
    return v;
}

Value tile_type_value(const isa::TileType& type) {
    auto more = std::make_shared<More>();
    more->type = type;
    Value v;
    v.kind = Kind::tile_type;
    v.dtype = type.dtype;
    v.more = std::move(more);
    return v;
}

namespace {

Value dtype_value(isa::DType t) {
    Value v;
    v.kind = Kind::dtype;
    v.dtype = t;
    return v;
}

Value enum_value(isa::EnumValue e) {
    Value v;
    v.kind = Kind::enumeration;
    v.field = std::int32_t(e.kind);
    v.integer = e.ordinal;
    return v;
}

} // namespace

Value language_value(std::string path) {
    std::string_view p = path;
    if (p.substr(0, 3) == "pl.") {
        p.remove_prefix(3);
        std::size_t dot = p.rfind('.');
        if (dot == std::string_view::npos) {
            if (p.substr(0, 3) == "DT_")
                if (auto t = isa::find_dtype(p)) return dtype_value(*t);
            if (p.size() == 2 && p[0] >= 'A' && p[0] <= 'Z') // pl.ND, pl.NZ ...
                if (auto e = isa::find_enum("TensorLayout", p)) return enum_value(*e);
        } else if (auto e = isa::find_enum(p.substr(0, dot), p.substr(dot + 1))) {
            return enum_value(*e);
        }
    }
    return text_value(Kind::language, std::move(path));
}

Value value_of(const syntax::Constant& c) {
    return std::visit(
        on{[](const syntax::NoneValue&) { return none_value(); }, [](bool b) { return boolean_value(b); },
           [](std::int64_t i) { return integer_value(i); }, [](double d) { return real_value(d); },
           [](const std::string& s) { return text_value(Kind::text, s); }, [](isa::DType t) { return dtype_value(t); },
           [](isa::EnumValue e) { return enum_value(e); }, [](const syntax::LanguageName& n) { return language_value(n.path); },
           [](const syntax::FunctionRef& f) {
               auto more = std::make_shared<More>();
               more->function = f;
               Value v;
               v.kind = Kind::function;
               v.more = std::move(more);
               return v;
           },
           [](const syntax::TilingClass& t) {
               auto more = std::make_shared<More>();
               more->tiling = t;
               Value v;
               v.kind = Kind::tiling_class;
               v.more = std::move(more);
               return v;
           },
           [](const syntax::TilingKeyClass& k) { return text_value(Kind::opaque, "tiling key class " + k.name); },
           [&](const syntax::ConstantList& list) {
               std::vector<Value> elements;
               elements.reserve(list.size());
               for (const syntax::Constant& e : list) elements.push_back(value_of(e));
               return tuple_value(std::move(elements), !c.is_tuple);
           },
           [](const syntax::Opaque& o) { return text_value(Kind::opaque, o.type); },
           [](const std::shared_ptr<const syntax::LanguageCall>& call) { // a tile type that the module builds once
               TileTypeArguments arguments;
               for (const auto& [name, argument] : call->keywords)
                   for (std::size_t i = 0; i < TileTypeArguments::names.size(); ++i)
                       if (name == TileTypeArguments::names[i]) arguments.values[i] = value_of(argument);
               std::size_t wrong = 0;
               std::string why;
               auto type = call->path == "pl.TileType" ? build_tile_type(arguments, wrong, why) : std::nullopt;
               return type ? tile_type_value(*type) : text_value(Kind::opaque, why.empty() ? call->path : "TileType (" + why + ")");
           }},
        c.value);
}

std::optional<syntax::Constant> constant_of(const Value& v) {
    syntax::Constant c;
    switch (v.kind) {
    case Kind::none: c.value = syntax::NoneValue{}; return c;
    case Kind::boolean: c.value = v.integer != 0; return c;
    case Kind::integer: c.value = v.integer; return c;
    case Kind::real: c.value = v.real; return c;
    case Kind::text: c.value = v.more->text; return c;
    case Kind::dtype: c.value = v.dtype; return c;
    case Kind::enumeration: c.value = isa::EnumValue{isa::EnumKind(v.field), std::uint8_t(v.integer)}; return c;
    case Kind::language: c.value = syntax::LanguageName{v.more->text}; return c;
    case Kind::function: c.value = v.more->function; return c;
    case Kind::tuple: {
        syntax::ConstantList list;
        for (const Value& e : v.more->elements) {
            auto element = constant_of(e);
            if (!element) return std::nullopt;
            list.push_back(std::move(*element));
        }
        c.value = std::move(list);
        c.is_tuple = !v.is_list;
        return c;
    }
    default: return std::nullopt;
    }
}

std::string describe(const Value& v) {
    auto article = [](std::string_view noun) {
        bool vowel = noun.substr(0, 2) == "in" || noun.substr(0, 2) == "fp" || noun.substr(0, 2) == "hf";
        return (vowel ? "an " : "a ") + std::string(noun);
    };
    switch (v.kind) {
    case Kind::unbound: return "nothing";
    case Kind::error: return "an error";
    case Kind::conflict: return "a value of uncertain type";
    case Kind::none: return "None";
    case Kind::boolean: return v.integer ? "True" : "False";
    case Kind::integer: return std::to_string(v.integer);
    case Kind::real: return "the constant " + std::to_string(v.real);
    case Kind::text: return "a string";
    case Kind::dtype: return "the type " + std::string(isa::language_name(v.dtype));
    case Kind::enumeration: {
        isa::EnumValue e{isa::EnumKind(v.field), std::uint8_t(v.integer)};
        return std::string(isa::name(e.kind)) + "." + std::string(isa::name(e));
    }
    case Kind::language: return "`" + v.more->text + "`";
    case Kind::function: return "the function `" + v.more->function.name + "`";
    case Kind::tiling_class: return "the class `" + v.more->tiling.name + "`";
    case Kind::opaque: return "a Python object of type " + v.more->text;
    case Kind::scalar: return article(isa::name(v.dtype)) + " scalar";
    case Kind::pointer: return "a pointer to " + std::string(isa::name(v.dtype));
    case Kind::tile: return "a tile";
    case Kind::group: return "a tile group";
    case Kind::tensor: return "a tensor";
    case Kind::structure: return "a struct";
    case Kind::struct_array: return "a struct array";
    case Kind::array_field: return "an array field";
    case Kind::tuple: return (v.is_list ? "a list of " : "a tuple of ") + std::to_string(v.size());
    case Kind::record: return "a make_tuple";
    case Kind::tile_type: return "a tile type";
    case Kind::reg: return "a register";
    case Kind::memory: return "a tile address";
    }
    return "a value";
}

bool same(const Value& a, const Value& b) {
    if (a.kind != b.kind) return false;
    switch (a.kind) {
    case Kind::boolean:
    case Kind::integer: return a.integer == b.integer && a.dtype == b.dtype;
    case Kind::real: return a.real == b.real && a.dtype == b.dtype;
    case Kind::text:
    case Kind::language:
    case Kind::opaque:
    case Kind::conflict: return a.more->text == b.more->text;
    case Kind::dtype: return a.dtype == b.dtype;
    case Kind::enumeration: return a.field == b.field && a.integer == b.integer;
    case Kind::function: return a.more->function.function == b.more->function.function;
    case Kind::tiling_class: return a.more->tiling.name == b.more->tiling.name;
    case Kind::tile_type: return a.more->type == b.more->type;
    case Kind::group: return a.id == b.id && bool(a.more) == bool(b.more) && (!a.more || a.more->type == b.more->type);
    case Kind::scalar:
    case Kind::pointer: return a.id >= 0 && a.id == b.id && a.dtype == b.dtype;
    case Kind::structure:
    case Kind::array_field:
    case Kind::memory: return a.id == b.id && a.field == b.field && a.expr == b.expr;
    case Kind::tile:
    case Kind::tensor:
    case Kind::struct_array:
    case Kind::reg: return a.id == b.id;
    case Kind::tuple:
    case Kind::record: {
        if (a.size() != b.size() || a.more->names != b.more->names) return false;
        for (std::size_t i = 0; i < a.size(); ++i)
            if (!same(a[i], b[i])) return false;
        return true;
    }
    case Kind::unbound:
    case Kind::error:
    case Kind::none: return true;
    }
    return false;
}

} // namespace pto::resolve
