package localhub

import (
	"bytes"
	_ "embed" // the description
	"net/http"
)

// openAPI describes the hub's interfaces (OpenAPI 3.1), with a placeholder for the address
// and the relation number's default name. Its x-documented members distinguish what is
// documented from what was chosen here.
//
//go:embed api/openapi.json
var openAPI []byte

// serveOpenAPI answers GET /openapi.json for everybody, since the description contains
// no data. It contains this hub's address and its name for the relation number.
func (h *Hub) serveOpenAPI(w http.ResponseWriter, r *http.Request) {
	h.respond(w, r, describe(h.BaseURL(), h.cfg.RelationField), nil)
}

// describe returns the description of the hub at base, without a trailing slash, with
// relation as the name of the relation number.
func describe(base, relation string) []byte {
	b := bytes.ReplaceAll(openAPI, []byte(`"{base_url}"`), appendString(nil, base))
	return bytes.ReplaceAll(b, []byte(`"`+DefaultRelationField+`"`), appendString(nil, relation))
}
