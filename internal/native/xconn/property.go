//go:build linux

package xconn

import (
	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// Atoms looks up names, all at once.
func Atoms(c *xgb.Conn, names map[string]*xproto.Atom) error {
	asked := map[string]xproto.InternAtomCookie{}
	for name := range names {
		asked[name] = xproto.InternAtom(c, false, uint16(len(name)), name)
	}
	for name, to := range names {
		r, err := asked[name].Reply()
		if err != nil {
			return err
		}
		*to = r.Atom
	}
	return nil
}

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
