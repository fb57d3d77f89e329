package main

// console does nothing: here, every program has the terminal it is started in.
func console() bool { return false }
