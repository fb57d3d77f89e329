// Package assets embeds what is not code: icons, the texts of both languages
// and the pages of the guides.
package assets

import "embed"

// Text holds the catalogue of texts, a JSON file an area in folder text.
//
//go:embed text
var Text embed.FS
