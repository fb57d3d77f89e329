package filetrust

func (s *Shared) rename(name string, to *Shared, as string) error { return s.replace(name, to, as) }
