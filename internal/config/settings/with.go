package settings

import "maps"

// With returns the settings with changes as for Set; s is unchanged. Errors are those of
// Check that do not concern the file.
func (s *Settings) With(changes map[string]any) (*Settings, error) {
	wanted, err := checked(changes)
	if err != nil {
		return nil, err
	}
	next := *s
	next.sources, next.places = maps.Clone(s.sources), maps.Clone(s.places)
	for key, v := range wanted {
		e, source := find(key), User
		if v == nil {
			v, source = e.def, Default
		}
		e.set(&next, v)
		next.sources[key] = source
	}
	return &next, nil
}
