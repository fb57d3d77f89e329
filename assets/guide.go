package assets

import "embed"

// Recipes contains the pages on how to connect a phone, one text file per phone and
// language, in folder guide/recipes. Package guide reads them.
//
//go:embed guide/recipes/*.txt
var Recipes embed.FS

// Service contains what a server needs to deliver a folder unattended, as printed by
// "wiebelt deliver service".
//
//go:embed guide/service/*
var Service embed.FS

// Help contains the pages of the guide in Markdown, one file per page and language. Their
// names begin with a number, by which they are sorted. Package guide reads them.
//
//go:embed guide/help/*.md
var Help embed.FS

// Shots contains the images for those pages: one file per image, language and appearance,
// at twice the size shown. make shots draws them.
//
//go:embed guide/shots/*.png
var Shots embed.FS
