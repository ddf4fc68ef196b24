#include "engine/ir/read.hpp"

#include <cstdlib>
#include <stdexcept>

namespace pto::ir {
namespace {

bool word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || (c & 0x80); }
bool digit(char c) { return c >= '0' && c <= '9'; }

class Reader {
  public:
    Reader(std::string_view text, const isa::Catalogue& catalogue) : m_text(text), m_catalogue(catalogue) {}

    Kernel kernel() {
        Kernel k;
        next_line();
        eat("kernel");
        k.name = word();
        if (accept("without")) eat("auto_mutex"), k.auto_mutex = false;
        bool more = next_line();
        while (more && peek_word() == "param") {
            word();
            k.params.push_back(parameter());
            more = next_line();
        }
        while (more) {
            std::string core = word();
            eat(":");
            Function f;
            f.core = core == "cube" ? isa::Core::cube : isa::Core::vector;
            m_f = &f;
            more = function();
            (core == "cube" ? k.cube : k.vector) = std::move(f);
        }
        return k;
    }

  private:
    // ---------------------------------------------------------------- characters and lines

    [[noreturn]] void fail(const std::string& why) const { throw std::invalid_argument("IR text, line " + std::to_string(m_line_number) + ": " + why); }

    bool next_line() {
        while (m_next < m_text.size()) {
            std::size_t end = m_text.find('\n', m_next);
            if (end == std::string_view::npos) end = m_text.size();
            m_line = m_text.substr(m_next, end - m_next);
            m_next = end + 1;
            ++m_line_number;
            m_at = 0;
            skip();
            if (m_at < m_line.size()) return true;
        }
        m_line = {};
        m_at = 0;
        return false;
    }
    void skip() {
        while (m_at < m_line.size() && m_line[m_at] == ' ') ++m_at;
    }
    bool at_end() {
        skip();
        return m_at >= m_line.size();
    }
    char peek(std::size_t ahead = 0) const { return m_at + ahead < m_line.size() ? m_line[m_at + ahead] : '\0'; }
    bool accept(std::string_view text) {
        skip();
        if (m_line.substr(m_at, text.size()) != text) return false;
        if (word_char(text.back()) && word_char(peek(text.size()))) return false;
        m_at += text.size();
        return true;
    }
    void eat(std::string_view text) {
        if (!accept(text)) fail("expected `" + std::string(text) + "` at `" + std::string(m_line.substr(m_at)) + "`");
    }
    std::string peek_word() {
        skip();
        std::size_t end = m_at;
        if (end < m_line.size() && (m_line[end] == '%' || m_line[end] == '$' || m_line[end] == '&')) ++end;
        while (end < m_line.size() && word_char(m_line[end])) ++end;
        return std::string(m_line.substr(m_at, end - m_at));
    }
    std::string word() {
        std::string w = peek_word();
        if (w.empty()) fail("expected a word at `" + std::string(m_line.substr(m_at)) + "`");
        m_at += w.size();
        return w;
    }
    std::string name() { // a declared name; - for none
        skip();
        if (peek() == '-' && !word_char(peek(1))) {
            ++m_at;
            return {};
        }
        return word();
    }
    std::int64_t number() {
        skip();
        std::string rest(m_line.substr(m_at, 40));
        char* end = nullptr;
        std::int64_t v = std::strtoll(rest.c_str(), &end, 0);
        if (end == rest.c_str()) fail("expected a number at `" + rest + "`");
        m_at += std::size_t(end - rest.c_str());
        return v;
    }
    std::string quoted() {
        eat("\"");
        std::string out;
        while (peek() != '"') {
            if (peek() == '\0') fail("unfinished string");
            if (peek() == '\\') {
                ++m_at;
                out += peek() == 'n' ? '\n' : peek();
            } else {
                out += peek();
            }
            ++m_at;
        }
        ++m_at;
        return out;
    }
    static std::int32_t last_number(const std::string& w) {
        std::size_t dot = w.rfind('.');
        if (dot == std::string::npos || dot + 1 >= w.size()) return -1;
        for (std::size_t i = dot + 1; i < w.size(); ++i)
            if (!digit(w[i])) return -1;
        return std::atoi(w.c_str() + dot + 1);
    }
    static std::string stem(const std::string& w, std::size_t skip) { return w.substr(skip, w.rfind('.') - skip); }
    std::int32_t indexed(char prefix) {
        std::string w = word();
        if (w.size() < 2 || w[0] != prefix) fail("expected " + std::string(1, prefix) + "N, found `" + w + "`");
        return std::atoi(w.c_str() + 1);
    }
    template <class Id> Id reference(char prefix) {
        std::string w = word();
        std::int32_t i = last_number(w);
        if (i < 0 || (prefix && w[0] != prefix)) fail("`" + w + "` is no reference");
        return Id{i};
    }

    // ---------------------------------------------------------------- declarations

    isa::DType dtype() {
        std::string w = word();
        auto t = isa::find_dtype(w);
        if (!t) fail("`" + w + "` is no type");
        return *t;
    }
    template <class E> E member(isa::EnumKind kind) {
        std::string w = word();
        auto e = isa::find_enum(isa::name(kind), w);
        if (!e) fail("`" + w + "` is no " + std::string(isa::name(kind)));
        return e->as<E>();
    }
    std::vector<Dim> dims() {
        std::vector<Dim> out;
        eat("[");
        while (!accept("]")) {
            if (accept("?")) out.push_back({true, 0});
            else out.push_back({false, number()});
            accept(",");
        }
        return out;
    }
    std::vector<Field> fields() {
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
    ParamId param() {
        if (!accept("param")) return {};
        return ParamId{std::int32_t(number())};
    }
    std::array<std::int32_t, 2> extents() {
        std::array<std::int32_t, 2> out{};
        std::string w = word(); // 16x64
        out[0] = std::atoi(w.c_str());
        out[1] = std::atoi(w.c_str() + w.find('x') + 1);
        return out;
    }
    isa::TileType tile_type() {
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
    Param parameter() {
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

    /// Declarations and statements of one core; true when a line of the next core follows.
    bool function() {
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
        if (!more) return false;
        return statements(m_f->body, false);
    }
    std::string tensor_name() {
        skip();
        if (peek() == '-') {
            ++m_at;
            return {};
        }
        return word();
    }
    TileDecl declaration() {
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

    // ---------------------------------------------------------------- expressions

    isa::DType type_of(ExprId e) const { return e.valid() ? (*m_f)[e].dtype : isa::DType::index; }

    ExprId expr() {
        skip();
        if (peek() == '-' && !word_char(peek(1))) {
            ++m_at;
            return {};
        }
        Expr e = primary();
        if (peek() == ':' && word_char(peek(1))) {
            std::size_t before = m_at++;
            std::string w = peek_word();
            if (auto t = isa::find_dtype(w)) {
                m_at += w.size();
                e.dtype = *t;
            } else {
                m_at = before; // the colon of a sub-view
            }
        }
        return m_f->add(std::move(e));
    }
    Expr primary() {
        Expr e;
        char c = peek();
        if (c == '(') return parenthesised();
        if (digit(c) || (c == '-' && word_char(peek(1)))) return literal();
        std::string w = peek_word();
        if (w == "inf" || w == "nan") return literal();
        word();
        if (w[0] == '%') { // %u.0.valid[0]
            std::size_t dot = w.rfind('.');
            if (w.substr(dot) != ".valid") fail("`" + w + "` is no expression");
            e.op = ExprOp::valid_dim;
            e.tile = TileVarId{last_number(w.substr(0, dot))};
            eat("[");
            e.integer = number();
            eat("]");
            return e;
        }
        if (w[0] == '&') {
            e.op = ExprOp::address;
            e.tensor = TensorId{std::atoi(w.c_str() + 2)};
            return e;
        }
        if (w == "true" || w == "false") {
            e.dtype = isa::DType::boolean;
            e.integer = w == "true";
            return e;
        }
        static constexpr std::pair<std::string_view, ExprOp> queries[] = {{"block_idx", ExprOp::block_idx}, {"block_num", ExprOp::block_num},
                                                                          {"subblock_idx", ExprOp::subblock_idx}, {"subblock_num", ExprOp::subblock_num}, {"spr", ExprOp::spr}};
        for (const auto& [text, op] : queries)
            if (w == text) {
                e.op = op;
                return e;
            }
        if (std::int32_t v = last_number(w); v >= 0) {
            e.op = ExprOp::var;
            e.var = VarId{v};
            e.dtype = m_f->vars.at(std::size_t(v)).dtype;
            return e;
        }
        if (peek() == '(') {
            ++m_at;
            if (w == "min" || w == "max") {
                e.op = w == "min" ? ExprOp::min : ExprOp::max;
                e.a = expr();
                eat(",");
                e.b = expr();
                e.dtype = type_of(e.a);
            } else {
                auto t = isa::find_dtype(w);
                if (!t) fail("`" + w + "` is no cast");
                e.op = ExprOp::cast;
                e.dtype = *t;
                e.a = expr();
            }
            eat(")");
            return e;
        }
        if (w[0] == 'g' && w.size() > 6 && w.substr(w.size() - 6) == ".shape") {
            e.op = ExprOp::dim;
            e.tensor = TensorId{std::atoi(w.c_str() + 1)};
            eat("[");
            e.integer = number();
            eat("]");
            return e;
        }
        if (w[0] == 's' && w.size() > 1 && digit(w[1])) return field(w);
        fail("`" + w + "` is no expression");
    }
    Expr field(const std::string& w) {
        Expr e;
        e.op = ExprOp::field;
        e.structure = StructId{std::atoi(w.c_str() + 1)};
        std::string member;
        if (std::size_t dot = w.find('.'); dot != std::string::npos) {
            member = w.substr(dot + 1);
        } else {
            eat("[");
            e.a = expr();
            eat("]");
            std::string rest = word(); // .name
            member = rest.substr(1);
        }
        const auto& fields = m_f->structs.at(std::size_t(e.structure.index)).fields;
        for (std::size_t i = 0; i < fields.size(); ++i)
            if (fields[i].name == member) {
                e.integer = std::int64_t(i);
                e.dtype = fields[i].dtype;
                if (fields[i].length > 0 && peek() == '[') {
                    eat("[");
                    e.b = expr();
                    eat("]");
                }
                return e;
            }
        fail("no field `" + member + "`");
    }
    Expr literal() {
        Expr e;
        std::string rest(m_line.substr(m_at, 60));
        char *end = nullptr, *real_end = nullptr;
        e.integer = std::strtoll(rest.c_str(), &end, 10);
        double real = std::strtod(rest.c_str(), &real_end);
        if (real_end > end) {
            e.op = ExprOp::real;
            e.dtype = isa::DType::fp32;
            e.integer = 0;
            e.real = real;
            end = real_end;
        }
        if (end == rest.c_str()) fail("expected a number at `" + rest + "`");
        m_at += std::size_t(end - rest.c_str());
        return e;
    }
    Expr parenthesised() {
        Expr e;
        eat("(");
        skip();
        if ((peek() == '-' || peek() == '~') && peek(1) == ' ') {
            e.op = peek() == '-' ? ExprOp::negate : ExprOp::bit_not;
            ++m_at;
            e.a = expr();
            e.dtype = type_of(e.a);
            eat(")");
            return e;
        }
        if (accept("not")) {
            e.op = ExprOp::logical_not;
            e.a = expr();
            e.dtype = isa::DType::boolean;
            eat(")");
            return e;
        }
        ExprId a = expr();
        static constexpr std::pair<std::string_view, ExprOp> signs[] = {
            {"//", ExprOp::floor_div}, {"<<", ExprOp::shl}, {">>", ExprOp::shr}, {"==", ExprOp::eq}, {"!=", ExprOp::ne}, {"<=", ExprOp::le}, {">=", ExprOp::ge},
            {"<", ExprOp::lt}, {">", ExprOp::gt}, {"+", ExprOp::add}, {"-", ExprOp::sub}, {"*", ExprOp::mul}, {"/", ExprOp::div}, {"%", ExprOp::mod},
            {"&", ExprOp::bit_and}, {"|", ExprOp::bit_or}, {"^", ExprOp::bit_xor}, {"and", ExprOp::logical_and}, {"or", ExprOp::logical_or}};
        if (accept("if")) {
            e.op = ExprOp::select;
            e.b = a;
            e.a = expr();
            eat("else");
            e.c = expr();
            e.dtype = type_of(e.b);
            eat(")");
            return e;
        }
        for (const auto& [text, op] : signs)
            if (accept(text)) {
                e.op = op;
                e.a = a;
                e.b = expr();
                bool truth = op >= ExprOp::eq && op <= ExprOp::logical_or;
                e.dtype = truth ? isa::DType::boolean : type_of(a);
                eat(")");
                return e;
            }
        eat(")"); // a number in brackets
        return (*m_f)[a];
    }
    ExprList list() {
        ExprList out;
        eat("[");
        while (!accept("]")) {
            out.push_back(expr());
            accept(",");
        }
        return out;
    }

    // ---------------------------------------------------------------- operations

    OperandValue operand(isa::OperandKind kind) {
        skip();
        char c = peek();
        if (c == '-' && !word_char(peek(1))) {
            ++m_at;
            return std::monostate{};
        }
        if (c == '[') return list();
        if (c == '"') return quoted();
        if (c == '{') {
            MixedList mixed;
            eat("{");
            while (!accept("}")) {
                if (peek_word()[0] == '%') mixed.tiles.push_back(reference<TileVarId>('%'));
                else mixed.tensors.push_back(TensorId{indexed('g')});
                accept(",");
            }
            return mixed;
        }
        std::string w = peek_word();
        if (!w.empty() && w[0] == '$') return reference<RegId>('$');
        if (!w.empty() && w[0] == '%' && last_number(w) >= 0) {
            TileVarId t = reference<TileVarId>('%');
            if (kind != isa::OperandKind::memory && kind != isa::OperandKind::memory_or_reg) return t;
            MemoryRef m;
            m.tile = t;
            if (accept("+")) m.offset = expr();
            return m;
        }
        if (w.size() > 1 && digit(w[1]) && w.find('.') == std::string::npos) {
            if (w[0] == 'g') return TensorId{indexed('g')};
            if (w[0] == 'd') return GroupRef{TileDeclId{indexed('d')}};
            if (w[0] == 's') {
                std::size_t begin = m_at;
                StructRef r{StructId{indexed('s')}, {}};
                if (peek() != '[') return r;
                eat("[");
                r.index = expr();
                eat("]");
                if (peek() != '.') return r;
                m_at = begin; // a field of a record
            }
        }
        return expr();
    }
    AttributeValue attribute(const isa::Keyword& k) {
        skip();
        char c = peek();
        if (c == '"') return quoted();
        if (c == '[') return list();
        if (c == '(') return expr();
        std::string w = peek_word();
        switch (k.kind) {
        case isa::KeywordKind::enumeration: {
            word();
            auto e = isa::find_enum(isa::name(k.enumeration), w);
            if (!e) fail("`" + w + "` is no " + std::string(isa::name(k.enumeration)));
            return *e;
        }
        case isa::KeywordKind::dtype: return dtype();
        case isa::KeywordKind::boolean:
            word();
            return w == "true";
        default: break;
        }
        if (!w.empty() && w[0] == '%' && last_number(w) >= 0) return reference<TileVarId>('%');
        if (w.size() > 1 && w[0] == 'g' && digit(w[1]) && w.find('.') == std::string::npos) return TensorId{indexed('g')};
        if (digit(c) || c == '-' || w == "inf" || w == "nan") {
            Expr e = literal();
            if (e.op == ExprOp::real) return e.real;
            return e.integer;
        }
        return expr();
    }
    std::vector<TileVarId> locks() {
        std::vector<TileVarId> out;
        if (accept("locks"))
            do out.push_back(reference<TileVarId>('%'));
            while (accept(","));
        return out;
    }
    Op operation(std::vector<VarId> results, std::vector<RegId> registers) {
        Op op;
        std::string w = word();
        op.row = m_catalogue.find(w);
        if (!op.row) fail("no operation `" + w + "`");
        op.results = std::move(results);
        op.registers = std::move(registers);
        op.attributes.resize(op.row->keywords.size());
        if (!op.row->operands.empty()) {
            std::size_t i = 0;
            do op.operands.push_back(operand(op.row->operands[std::min(i, op.row->operands.size() - 1)].kind)), ++i;
            while (accept(","));
        }
        while (!at_end() && peek() != '@' && peek_word() != "locks") {
            std::string keyword = word();
            int at = op.row->keyword_index(keyword);
            if (at < 0) fail("`" + std::string(op.row->name) + "` has no keyword `" + keyword + "`");
            eat("=");
            op.attributes[std::size_t(at)] = attribute(op.row->keywords[std::size_t(at)]);
        }
        op.pipe = isa::Pipe::v;
        if (accept("@")) op.pipe = member<isa::Pipe>(isa::EnumKind::Pipe);
        op.locks = locks();
        op.operand_spans.resize(op.operands.size());
        return op;
    }

    // ---------------------------------------------------------------- statements

    void put(Body& body, decltype(Stmt::what) what) { body.push_back(Stmt{std::move(what), {}}); }

    void block(Body& body) {
        eat("{");
        if (!next_line()) fail("a block is not closed");
        statements(body, true);
    }
    /// Reads statements from the current line on. Inside a block: up to its closing brace. At the top: up to the next core.
    bool statements(Body& body, bool inner) {
        do {
            skip();
            if (inner && peek() == '}') return true;
            if (!inner && m_at == 0) return true; // `vector:` stands at the margin
            statement(body);
        } while (next_line());
        if (inner) fail("a block is not closed");
        return false;
    }
    void statement(Body& body) {
        std::string w = peek_word();
        if (accept("break")) return put(body, Break{});
        if (accept("continue")) return put(body, Continue{});
        if (accept("return")) return put(body, Return{});
        if (accept("for")) {
            Loop l;
            l.var = reference<VarId>('\0');
            eat("in");
            l.start = expr(), eat(","), l.stop = expr(), eat(","), l.step = expr();
            block(l.body);
            return put(body, std::move(l));
        }
        if (accept("forever")) {
            Forever l;
            block(l.body);
            return put(body, std::move(l));
        }
        if (accept("if")) {
            Branch b;
            b.condition = expr();
            block(b.then);
            return put(body, std::move(b));
        }
        if (accept("else")) {
            Branch* b = body.empty() ? nullptr : std::get_if<Branch>(&body.back().what);
            if (!b) fail("else without if");
            Body otherwise;
            block(otherwise);
            std::get<Branch>(body.back().what).otherwise = std::move(otherwise);
            return;
        }
        if (accept("stage")) {
            StageScope s;
            s.stage = word();
            if (accept("task")) s.task = expr();
            block(s.body);
            return put(body, std::move(s));
        }
        if (accept("inlined")) {
            HelperScope s;
            s.helper = word();
            block(s.body);
            return put(body, std::move(s));
        }
        if (accept("vector")) {
            VectorCall c;
            c.name = word();
            eat("(");
            while (!accept(")")) {
                isa::Role role = accept("RW") ? isa::Role::read_write : accept("R") ? isa::Role::read : accept("W") ? isa::Role::write : isa::Role::none;
                if (peek_word().substr(0, 1) == "%" || role != isa::Role::none) c.tiles.push_back((skip(), reference<TileVarId>('%'))), c.roles.push_back(role);
                else c.captures.push_back(reference<VarId>('\0'));
                accept(",");
            }
            c.locks = locks();
            block(c.body);
            return put(body, std::move(c));
        }
        if (accept("simt")) {
            SimtLaunch l;
            l.name = word();
            eat("(");
            while (!accept(")")) {
                l.arguments.push_back(operand(isa::OperandKind::value));
                accept(",");
            }
            eat("threads");
            l.x = expr(), eat(","), l.y = expr(), eat(","), l.z = expr();
            if (accept("ids")) l.thread_x = reference<VarId>('\0'), eat(","), l.thread_y = reference<VarId>('\0'), eat(","), l.thread_z = reference<VarId>('\0');
            if (accept("captures"))
                do l.captures.push_back(reference<VarId>('\0'));
                while (accept(","));
            l.locks = locks();
            block(l.body);
            return put(body, std::move(l));
        }
        if (w.size() > 1 && w[0] == 'g' && digit(w[1]) && last_number(w) < 0) {
            TensorBind b;
            b.tensor = TensorId{indexed('g')};
            eat("=");
            if (accept("at")) {
                b.address = expr();
                eat("shape");
                b.shape = list();
                eat("strides");
                b.strides = list();
            } else {
                b.alias_of = TensorId{indexed('g')};
            }
            return put(body, std::move(b));
        }
        if (w.size() > 1 && w[0] == 's' && digit(w[1]) && last_number(w) < 0) {
            word();
            Expr target = field(w);
            eat("=");
            FieldAssign a;
            a.target = {target.structure, target.a};
            a.field = std::int32_t(target.integer);
            a.element = target.b;
            a.value = expr();
            return put(body, std::move(a));
        }
        if (!w.empty() && w[0] == '%') return bind(body);
        if (!w.empty() && (w[0] == '$' || last_number(w) >= 0)) {
            std::vector<VarId> results;
            std::vector<RegId> registers;
            do {
                if (peek_word()[0] == '$') registers.push_back(reference<RegId>('$'));
                else results.push_back(reference<VarId>('\0'));
                skip();
            } while (accept(","));
            eat("=");
            std::string right = peek_word();
            bool call = !right.empty() && m_catalogue.find(right) && peek_after(right) != '(';
            if (call) return put(body, operation(std::move(results), std::move(registers)));
            return put(body, Assign{results.at(0), expr()});
        }
        put(body, operation({}, {}));
    }
    char peek_after(const std::string& w) { return m_at + w.size() < m_line.size() ? m_line[m_at + w.size()] : '\0'; }
    void bind(Body& body) {
        TileBind b;
        b.var = reference<TileVarId>('%');
        eat("=");
        if (peek_word().substr(0, 1) != "%") {
            SlotOf s;
            s.decl = TileDeclId{indexed('d')};
            eat("[");
            s.index = expr();
            eat("]");
            b.source = s;
            return put(body, std::move(b));
        }
        skip();
        TileVarId t = reference<TileVarId>('%');
        if (peek() == '[') {
            SubviewOf v;
            v.base = t;
            eat("[");
            v.row_begin = expr(), eat(":"), v.row_end = expr(), eat(","), v.col_begin = expr(), eat(":"), v.col_end = expr();
            eat("]");
            b.source = v;
        } else if (accept("as")) {
            tile_type();
            b.source = ViewOf{t};
        } else if (accept("if")) {
            ChoiceOf c;
            c.then = t;
            c.condition = expr();
            eat("else");
            skip();
            c.otherwise = reference<TileVarId>('%');
            b.source = c;
        } else {
            b.source = AliasOf{t};
        }
        put(body, std::move(b));
    }

    std::string_view m_text, m_line;
    std::size_t m_next = 0, m_at = 0;
    int m_line_number = 0;
    const isa::Catalogue& m_catalogue;
    Function* m_f = nullptr;
};

} // namespace

Kernel read(std::string_view text, const isa::Catalogue& catalogue) { return Reader(text, catalogue).kernel(); }

} // namespace pto::ir
