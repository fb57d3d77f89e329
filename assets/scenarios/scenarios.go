// Package scenarios embeds the stories of calls that "wiebelt simulate" can
// play, a text file each. Their callers are those whom the local hub invents.
package scenarios

import "embed"

// Files holds NAME.txt for each.
//
//go:embed *.txt
var Files embed.FS
