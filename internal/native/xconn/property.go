//go:build linux

package xconn

import (
	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// Values returns a property of 32-bit values, or nil if
// it has another format or cannot be read.
func Values(r *xproto.GetPropertyReply, err error) []uint32 {
	if err != nil || r == nil || r.Format != 32 {
		return nil
	}
	v := make([]uint32, len(r.Value)/4)
	for i := range v {
		v[i] = xgb.Get32(r.Value[4*i:])
	}
	return v
}
