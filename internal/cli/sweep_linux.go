package cli

// endPrograms has nothing to end: what is removed here goes on until it ends.
func endPrograms(string) {}
