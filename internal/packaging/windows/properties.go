//go:build linux

package windows

import (
	"bytes"

	"github.com/tc-hib/winres"
	"github.com/tc-hib/winres/version"
)

// withVersion returns a program with a version in its properties, which Windows
// Installer compares and administrators see. It replaces the source's version,
// with which the program was built.
func withVersion(program []byte, number string) ([]byte, error) {
	in := bytes.NewReader(program)
	all, err := winres.LoadFromEXE(in)
	if err != nil {
		return nil, err
	}
	all.WalkType(winres.RT_VERSION, func(id winres.Identifier, language uint16, old []byte) bool {
		var properties *version.Info
		if properties, err = version.FromBytes(old); err != nil {
			return false
		}
		properties.SetFileVersion(number)
		properties.SetProductVersion(number)
		err = all.Set(winres.RT_VERSION, id, language, properties.Bytes())
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = all.WriteToEXE(&out, in)
	return out.Bytes(), err
}
