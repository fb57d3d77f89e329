package main

// attachConsole does nothing: here, every program has the terminal it is started in.
func attachConsole() bool { return false }
