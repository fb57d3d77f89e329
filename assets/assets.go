// Package assets embeds everything that is not code: icons, the texts in both languages
// and the pages of the guides.
package assets

import "embed"

// Text contains the catalogue of texts, one JSON file per area in folder text.
//
//go:embed text
var Text embed.FS
