package assets

import "embed"

// Recipes holds the pages on how to connect a phone, a text file a phone and
// language in folder guide/recipes. Package guide reads them.
//
//go:embed guide/recipes/*.txt
var Recipes embed.FS

// Service holds what a server needs to deliver a folder by itself, as it is
// printed by "wiebelt deliver service".
//
//go:embed guide/service/*
var Service embed.FS

// Help holds the pages of the guide, Markdown, a file a page and language. Their
// names begin with a number, which is their order. Package guide reads them.
//
//go:embed guide/help/*.md
var Help embed.FS

// Shots holds the pictures in those pages: a file a picture, language and
// appearance, twice as large as they are shown. make shots draws them.
//
//go:embed guide/shots/*.png
var Shots embed.FS
