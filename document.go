package main

import (
	_ "embed"
	"errors"
	"net/http"
)

// The service's own description, in OpenAPI: docs/openapi.yaml is written by
// hand, docs/openapi.json is made from it.

//go:embed docs/openapi.json
var openAPIJSON []byte

//go:embed docs/openapi.yaml
var openAPIYAML []byte

const documentPath = "/api/v1/openapi.json"

// toDocument leads whoever is lost to it (RFC 8631).
var toDocument = http.Header{"Link": {"<" + documentPath + `>; rel="service-desc"; type="application/json"`}}

// document answers with what is part of the program. Its entity tag is weak,
// for it may go compressed or not.
func document(contentType string, body []byte) handler {
	etag := "W/" + etagOf(body)
	return func(_ *server, w http.ResponseWriter, r *http.Request, _ string, _ caller) error {
		varies(w)
		on, err := conditionsOf(r)
		if err != nil {
			return err
		}
		w.Header()["Etag"] = []string{etag}
		if err := on.check(etag, true); errors.Is(err, errChanged) {
			return &problem{Status: http.StatusPreconditionFailed, Detail: "This is not what the request's conditions ask for."}
		} else if err != nil {
			return err
		}
		w.Header().Set("Content-Type", contentType)
		respond(w, http.StatusOK, compressed(w, r, body))
		return nil
	}
}
