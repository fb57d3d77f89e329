package assets

import "embed"

// Recipes holds the pages on how to connect a phone, a text file a phone and
// language in folder guide/recipes. Package guide reads them.
//
//go:embed guide/recipes/*.txt
var Recipes embed.FS
