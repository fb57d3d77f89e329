// Package ptytest runs a command at a terminal of its own, as a person does.
package ptytest
