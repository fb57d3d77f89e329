package main

// console has nothing to do: here every program has the terminal that it is started in.
func console() bool { return false }
