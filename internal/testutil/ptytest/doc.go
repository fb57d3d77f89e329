// Package ptytest runs a command in its own terminal, as a user does.
package ptytest
