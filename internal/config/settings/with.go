package settings

import "maps"

// With is the settings as they would be with changes that Set takes; s stays as
// it is. Errors are those of Check that have nothing to do with the file.
func (s *Settings) With(changes map[string]any) (*Settings, error) {
	wanted, err := checked(changes)
	if err != nil {
		return nil, err
	}
	next := *s
	next.sources, next.places = maps.Clone(s.sources), maps.Clone(s.places)
	for key, v := range wanted {
		source := User
		if v == nil {
			source = Default
		}
		e := find(key)
		if v == nil {
			v = e.def
		}
		e.set(&next, v)
		next.sources[key] = source
	}
	return &next, nil
}
