// Package scenarios embeds the call scenarios that "wiebelt simulate" can play, one text
// file each. Their callers are those that the local hub makes up.
package scenarios

import "embed"

// Files contains NAME.txt for each scenario.
//
//go:embed *.txt
var Files embed.FS
