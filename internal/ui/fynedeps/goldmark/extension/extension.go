// Package extension names the Markdown extensions that Fyne asks for.
package extension

// Extension does nothing.
type Extension struct{}

// What Fyne asks for.
var Strikethrough, TaskList, Table Extension
