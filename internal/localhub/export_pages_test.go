package localhub

// SetLoopback makes the hub one that others can reach, as far as its pages say.
func (h *Hub) SetLoopback(is bool) { h.place.loopback = is }
