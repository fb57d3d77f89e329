#include "textflag.h"

// Windows passes the first four arguments of a function each in a register of its
// place: numbers in CX, DX, R8 and R9, but a float64 in X0, X1, X2 or X3 instead.
// Callbacks of Go read the former only. So for ElementProviderFromPoint(this, x, y, out)
// x and y are moved to where Go looks for them, bit by bit; the stack stays as it is,
// and the callback returns to the caller.
TEXT fromPointTrampoline<>(SB), NOSPLIT|NOFRAME|TOPFRAME, $0-0
	MOVQ X1, DX
	MOVQ X2, R8
	MOVQ ·fromPoint(SB), AX
	JMP  AX

// The address of the function itself, which Go does not give.
GLOBL ·fromPointEntry(SB), NOPTR, $8
DATA ·fromPointEntry(SB)/8, $fromPointTrampoline<>(SB)
