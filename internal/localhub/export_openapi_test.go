package localhub

import "net/http"

// Describe is the description of a hub's interfaces.
var Describe = describe

// RelationField is the JSON name of the relation number.
func (h *Hub) RelationField() string { return h.cfg.RelationField }

// Handler answers requests that come by no connection.
func (h *Hub) Handler() http.Handler { return h.handler }
