// Package ptytest runs a command at its own terminal, like a user does.
package ptytest
