#include "engine/ir/read.hpp"

#include "engine/ir/read_parts.hpp"

#include <cstdlib>

namespace pto::ir {
namespace {

class Reader : ExpressionReader {
  public:
    Reader(std::string_view text, const isa::Catalogue& catalogue) : ExpressionReader(text), m_catalogue(catalogue) {}

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
            more = declarations() && statements(m_f->body, false);
            (core == "cube" ? k.cube : k.vector) = std::move(f);
        }
        return k;
    }

  private:
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

    const isa::Catalogue& m_catalogue;
};

} // namespace

Kernel read(std::string_view text, const isa::Catalogue& catalogue) { return Reader(text, catalogue).kernel(); }

} // namespace pto::ir
