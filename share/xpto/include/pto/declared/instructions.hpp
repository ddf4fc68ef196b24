#pragma once
/// Instructions on whole tiles. Source: codegen 2.1 to 2.3.

#include "tiles.hpp"

namespace pto {

// ---------------------------------------------------------------- movement

template <class D, class G> concept Loads = (Vec<D> || Mat<D>) && Global<G> && SameWidth<D, G> &&
    (G::layout == Layout::ND ? (Mat<D> || D::blocks == BLayout::RowMajor)
     : G::layout == Layout::DN ? (Mat<D> || D::blocks == BLayout::ColMajor)
     : G::layout == Layout::NZ ? D::boxes == SLayout::RowMajor || D::boxes == SLayout::ColMajor
                               : Mat<D> && D::boxes == (D::blocks == BLayout::RowMajor ? SLayout::RowMajor : SLayout::ColMajor));
template <class D, class G> requires Loads<D, G> void TLOAD(D&, G&);

template <class S, class G> concept Stores = Global<G> && (Acc<S> || (Vec<S> && SameWidth<S, G>)) && G::layout <= Layout::NZ;
template <class S, class G> requires Stores<S, G> void TSTORE(G&, S&);
template <class S, class G> requires Stores<S, G> && Acc<S> void TSTORE(G&, S&, std::uint64_t quant);
template <STPhase, class S, class G> requires Stores<S, G> && Acc<S> void TSTORE(G&, S&);
template <STPhase, class S, class G> requires Stores<S, G> && Acc<S> void TSTORE(G&, S&, std::uint64_t quant);
template <class S, class G, AtomicType, ReluPreMode> requires Stores<S, G> && Acc<S> void TSTORE(G&, S&);
template <class S, class G, AtomicType, ReluPreMode> requires Stores<S, G> && Acc<S> void TSTORE(G&, S&, std::uint64_t quant);
template <STPhase, class S, class G, AtomicType, ReluPreMode> requires Stores<S, G> && Acc<S> void TSTORE(G&, S&);
template <STPhase, class S, class G, AtomicType, ReluPreMode> requires Stores<S, G> && Acc<S> void TSTORE(G&, S&, std::uint64_t quant);
template <class S, class G, class F> requires Stores<S, G> && Acc<S> && TileIn<F, TileType::Scaling> void TSTORE_FP(G&, S&, F&);

template <class D, class S> concept MovesFromMat = Mat<S> && (Left<D> || Right<D> || TileIn<D, TileType::Bias> || TileIn<D, TileType::Scaling> ||
                                                              TileIn<D, TileType::ScaleLeft> || TileIn<D, TileType::ScaleRight>);
template <class D, class S> concept Moves = MovesFromMat<D, S> || (Vec<S> && (Vec<D> || Mat<D>)) || (Acc<S> && Mat<D>);
template <class D, class S> concept ToVec = Acc<S> && Vec<D>;
template <class D, class S> requires Moves<D, S> void TMOV(D&, S&);
template <class D, class S, AccToVecMode> requires ToVec<D, S> void TMOV(D&, S&);
template <class D, class S, AccToVecMode> requires ToVec<D, S> void TMOV(D&, S&, std::uint64_t quant);
template <class D, class S, AccToVecMode, ReluPreMode> requires ToVec<D, S> void TMOV(D&, S&);
template <class D, class S, AccToVecMode, ReluPreMode> requires ToVec<D, S> void TMOV(D&, S&, std::uint64_t quant);
template <class D, class S, class F, AccToVecMode> requires ToVec<D, S> && TileIn<F, TileType::Scaling> void TMOV(D&, S&, F&);
template <class D, class S, class F, AccToVecMode, ReluPreMode> requires ToVec<D, S> && TileIn<F, TileType::Scaling> void TMOV(D&, S&, F&);
template <class D, class S, class F> requires Acc<S> && (Vec<D> || Mat<D>) && TileIn<F, TileType::Scaling> void TMOV_FP(D&, S&, F&);
using Index = std::uint16_t;
template <class D, class S> requires Moves<D, S> void TEXTRACT(D&, S&, Index row, Index col);
template <class D, class S, AccToVecMode> requires ToVec<D, S> void TEXTRACT(D&, S&, Index row, Index col);
template <class D, class S, AccToVecMode> requires ToVec<D, S> void TEXTRACT(D&, S&, std::uint64_t quant, Index row, Index col);
template <class D, class S, AccToVecMode, ReluPreMode> requires ToVec<D, S> void TEXTRACT(D&, S&, Index row, Index col);
template <class D, class S, AccToVecMode, ReluPreMode> requires ToVec<D, S> void TEXTRACT(D&, S&, std::uint64_t quant, Index row, Index col);
template <class D, class S, class F, AccToVecMode> requires ToVec<D, S> && TileIn<F, TileType::Scaling> void TEXTRACT(D&, S&, F&, Index row, Index col);
template <class D, class S> requires Vec<S> && (Mat<D> || Vec<D>) && SameType<D, S> void TINSERT(D&, S&, Index row, Index col);
template <Vec D, Vec S> void TRESHAPE(D&, S&);
template <Vec D, Vec S, Vec T> requires SameType<D, S> void TTRANS(D&, S&, T& tmp);
template <class D, class S> requires AnyTile<D> && AnyTile<S> && SameType<D, S> && (Vec<D> == Vec<S>) && (Vec<D> || Mat<D>) void TFILLPAD(D&, S&);
template <Vec D, Vec S> requires SameType<D, S> void TFILLPAD_INPLACE(D&, S&);
template <Vec D, Vec S> requires SameType<D, S> void TFILLPAD_EXPAND(D&, S&);

// ---------------------------------------------------------------- matrix unit

template <class D, class L, class R> concept Product = Acc<D> && Left<L> && Right<R> && sizeof(typename D::DType) == 4;
#define PTO_DECLARED_PRODUCT(NAME)                                                                                                                    \
    template <class D, class L, class R> requires Product<D, L, R> void NAME(D&, L&, R&);                                                             \
    template <AccPhase, class D, class L, class R> requires Product<D, L, R> void NAME(D&, L&, R&);                                                   \
    template <class D, class L, class R> requires Product<D, L, R> void NAME##_ACC(D&, D&, L&, R&);                                                   \
    template <AccPhase, class D, class L, class R> requires Product<D, L, R> void NAME##_ACC(D&, D&, L&, R&);                                         \
    template <class D, class L, class R, class B> requires Product<D, L, R> && TileIn<B, TileType::Bias> void NAME##_BIAS(D&, L&, R&, B&);            \
    template <AccPhase, class D, class L, class R, class B> requires Product<D, L, R> && TileIn<B, TileType::Bias> void NAME##_BIAS(D&, L&, R&, B&)
PTO_DECLARED_PRODUCT(TMATMUL);
PTO_DECLARED_PRODUCT(TGEMV);
#undef PTO_DECLARED_PRODUCT
template <class D, class L, class SL, class R, class SR> concept ScaledProduct = Product<D, L, R> && TileIn<SL, TileType::ScaleLeft> && TileIn<SR, TileType::ScaleRight>;
template <class D, class L, class SL, class R, class SR> requires ScaledProduct<D, L, SL, R, SR> void TMATMUL_MX_IMPL(D&, L&, SL&, R&, SR&);
template <AccPhase, class D, class L, class SL, class R, class SR> requires ScaledProduct<D, L, SL, R, SR> void TMATMUL_MX_IMPL(D&, L&, SL&, R&, SR&);
template <class D, class L, class SL, class R, class SR> requires ScaledProduct<D, L, SL, R, SR> void TMATMUL_MX_IMPL(D&, D&, L&, SL&, R&, SR&);
template <AccPhase, class D, class L, class SL, class R, class SR> requires ScaledProduct<D, L, SL, R, SR> void TMATMUL_MX_IMPL(D&, D&, L&, SL&, R&, SR&);

// ---------------------------------------------------------------- vector unit

template <class X> concept Rows = Vec<X> && X::blocks == BLayout::RowMajor && X::boxes == SLayout::NoneBox;
#define PTO_DECLARED_BINARY(NAME) template <Rows D, Rows A, Rows B> requires SameType<D, A> && SameType<A, B> void NAME(D&, A&, B&)
#define PTO_DECLARED_SCALAR(NAME) template <Rows D, Rows A> requires SameType<D, A> void NAME(D&, A&, typename A::DType)
#define PTO_DECLARED_UNARY(NAME) template <Rows D, Rows A> requires SameType<D, A> void NAME(D&, A&)
PTO_DECLARED_BINARY(TADD); PTO_DECLARED_BINARY(TSUB); PTO_DECLARED_BINARY(TMUL); PTO_DECLARED_BINARY(TDIV); PTO_DECLARED_BINARY(TMAX);
PTO_DECLARED_BINARY(TMIN); PTO_DECLARED_BINARY(TAND); PTO_DECLARED_BINARY(TOR); PTO_DECLARED_BINARY(TSHL); PTO_DECLARED_BINARY(TSHR);
PTO_DECLARED_BINARY(TFMOD); PTO_DECLARED_BINARY(TPARTADD); PTO_DECLARED_BINARY(TPARTMUL); PTO_DECLARED_BINARY(TPARTMAX); PTO_DECLARED_BINARY(TPARTMIN);
PTO_DECLARED_SCALAR(TADDS); PTO_DECLARED_SCALAR(TSUBS); PTO_DECLARED_SCALAR(TMULS); PTO_DECLARED_SCALAR(TDIVS); PTO_DECLARED_SCALAR(TFMODS);
PTO_DECLARED_SCALAR(TANDS); PTO_DECLARED_SCALAR(TORS); PTO_DECLARED_SCALAR(TSHLS); PTO_DECLARED_SCALAR(TSHRS); PTO_DECLARED_SCALAR(TMAXS); PTO_DECLARED_SCALAR(TMINS);
PTO_DECLARED_UNARY(TNEG); PTO_DECLARED_UNARY(TEXP); PTO_DECLARED_UNARY(TSQRT); PTO_DECLARED_UNARY(TRSQRT); PTO_DECLARED_UNARY(TRECIP); PTO_DECLARED_UNARY(TLOG);
PTO_DECLARED_UNARY(TABS); PTO_DECLARED_UNARY(TRELU); PTO_DECLARED_UNARY(TNOT);
template <Rows D, Rows A> void TAXPY(D&, A&, typename A::DType);
template <Rows D, Rows A, Rows B, Rows T> requires SameType<D, A> && SameType<A, B> void TXOR(D&, A&, B&, T& tmp);
template <Vec D, Vec A, Vec T> requires SameType<D, A> void TXORS(D&, A&, typename A::DType, T& tmp);
template <Rows D> void TADDC(D&, D&, D&, D&);
template <Rows D> void TSUBC(D&, D&, D&, D&);
template <Vec D> void TADDSC(D&, D&, typename D::DType, D&);
template <Vec D> void TSUBSC(D&, D&, typename D::DType, D&);
template <Rows D, Rows S> void TCVT(D&, S&, RoundMode);
template <Vec D, Vec A, Vec B> requires SameType<A, B> && std::same_as<typename D::DType, std::uint8_t> void TCMP(D&, A&, B&, CmpMode);
template <Vec D, Vec A> requires std::same_as<typename D::DType, std::uint8_t> void TCMPS(D&, A&, typename A::DType, CmpMode);
template <Vec D, Vec M, Vec T> requires std::same_as<typename M::DType, std::uint8_t> void TSEL(D&, M&, D&, D&, T& tmp);
template <Vec D, Vec M, Vec S, Vec T> requires SameType<D, S> && std::same_as<typename M::DType, std::uint8_t> void TSELS(D&, M&, S&, T& tmp, typename S::DType);
template <class D> requires Vec<D> || Mat<D> void TEXPANDS(D&, typename D::DType);
template <class D, class T> concept Counted = Vec<D> && std::same_as<T, typename D::DType> && std::integral<T> && (sizeof(T) == 2 || sizeof(T) == 4) && D::Rows == 1;
template <class D, class T, int Descending> requires Counted<D, T> void TCI(D&, T start);
template <class D, class S, class T, int Descending> requires Counted<D, T> && SameType<D, S> void TCI(D&, T start, S& scratch);

#define PTO_DECLARED_ROWS(NAME) template <Vec D, Vec S, Vec T> requires SameType<D, S> void NAME(D&, S&, T& tmp)
#define PTO_DECLARED_COLUMNS(NAME) template <Vec D, Vec S> requires SameType<D, S> void NAME(D&, S&)
#define PTO_DECLARED_ARG(NAME) template <Vec D, Vec S, Vec T> requires(sizeof(typename D::DType) == 4) void NAME(D&, S&, T& tmp)
PTO_DECLARED_ROWS(TROWSUM); PTO_DECLARED_ROWS(TROWMAX); PTO_DECLARED_ROWS(TROWMIN); PTO_DECLARED_ROWS(TROWPROD);
PTO_DECLARED_COLUMNS(TCOLMAX); PTO_DECLARED_COLUMNS(TCOLMIN); PTO_DECLARED_COLUMNS(TCOLPROD);
PTO_DECLARED_ARG(TROWARGMAX); PTO_DECLARED_ARG(TROWARGMIN); PTO_DECLARED_ARG(TCOLARGMAX); PTO_DECLARED_ARG(TCOLARGMIN);
template <Vec D, Vec S, Vec T> requires SameType<D, S> void TCOLSUM(D&, S&, T& tmp, bool binary);
template <Vec D, Vec A> requires SameType<D, A> void TROWEXPAND(D&, A&);
template <Vec D, Vec A> requires SameType<D, A> void TCOLEXPAND(D&, A&);
#define PTO_DECLARED_EXPAND(OP)                                                                                       \
    template <Rows D, Rows A, Vec B> requires SameType<D, A> && SameType<A, B> void TROWEXPAND##OP(D&, A&, B& column); \
    template <Rows D, Rows A, Vec B> requires SameType<D, A> && SameType<A, B> void TCOLEXPAND##OP(D&, A&, B& row)
PTO_DECLARED_EXPAND(ADD); PTO_DECLARED_EXPAND(SUB); PTO_DECLARED_EXPAND(MUL); PTO_DECLARED_EXPAND(DIV); PTO_DECLARED_EXPAND(MAX); PTO_DECLARED_EXPAND(MIN);
PTO_DECLARED_EXPAND(EXPDIF);
#undef PTO_DECLARED_EXPAND
#undef PTO_DECLARED_ARG
#undef PTO_DECLARED_COLUMNS
#undef PTO_DECLARED_ROWS
#undef PTO_DECLARED_UNARY
#undef PTO_DECLARED_SCALAR
#undef PTO_DECLARED_BINARY

template <Vec D, Vec S, Vec I, Vec T> requires SameType<D, S> && std::integral<typename I::DType> void TGATHER(D&, S&, I&, T& tmp);
template <Vec D, Vec S, Vec K, Vec C, Vec T, CmpMode M> requires(M == CmpMode::EQ || M == CmpMode::GT) void TGATHER(D&, S&, K&, C&, T& tmp, int offset);
template <Vec D, Vec S, MaskPattern> requires SameWidth<D, S> void TGATHER(D&, S&);
template <Vec D, Vec S, Vec O> requires SameWidth<D, S> && std::same_as<typename O::DType, std::uint32_t> void TGATHERB(D&, S&, O&);
template <Vec D, Vec S, Vec I> requires SameType<D, S> && std::integral<typename I::DType> void TSCATTER(D&, S&, I&);
template <Vec D, Vec S, Vec I> requires SameType<D, S> && std::same_as<typename I::DType, std::uint32_t> void TSORT32(D&, S&, I&);
template <Vec D, Vec S, Vec I, Vec T> requires SameType<D, S> && std::same_as<typename I::DType, std::uint32_t> void TSORT32(D&, S&, I&, T& tmp);
struct MrgSortExecutedNumList { std::uint16_t count[4]; };
template <Vec D, Vec S> requires SameType<D, S> void TMRGSORT(D&, S&, std::uint32_t block_length);
template <Vec D, Vec T, Vec A, Vec B, bool Exhausted> void TMRGSORT(D&, MrgSortExecutedNumList&, T& tmp, A&, B&);
template <Vec D, Vec T, Vec A, Vec B, Vec C, bool Exhausted> void TMRGSORT(D&, MrgSortExecutedNumList&, T& tmp, A&, B&, C&);
template <Vec D, Vec T, Vec A, Vec B, Vec C, Vec E, bool Exhausted> void TMRGSORT(D&, MrgSortExecutedNumList&, T& tmp, A&, B&, C&, E&);
template <HistByte, Vec D, Vec S, Vec I> requires std::same_as<typename D::DType, std::uint32_t> && std::same_as<typename I::DType, std::uint8_t> void THISTOGRAM(D&, S&, I&);
template <QuantType Q, Vec D, Vec S, Vec P> requires(Q == QuantType::INT8_SYM) void TQUANT(D&, S&, P& scale);
template <QuantType Q, Vec D, Vec S, Vec P> requires(Q == QuantType::INT8_ASYM) void TQUANT(D&, S&, P& scale, P* offset);
template <Vec D, Vec S, Vec P> void TDEQUANT(D&, S&, P& scale, P& offset);

template <class X> requires Vec<X> || Global<X> void TPRINT(X&);

} // namespace pto
