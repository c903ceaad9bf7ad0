package httpapi

import "net/http"

// Kind is a kind of problem: its code, for programs, and the status that it
// always has. The codes are a closed list, which docs/openapi.yaml describes. A
// code never changes.
type Kind struct {
	Code   string
	Status int
}

// The kinds of problems that any API has.
var (
	KeyMissing   = Kind{"key_missing", http.StatusUnauthorized}
	KeyUnknown   = Kind{"key_unknown", http.StatusUnauthorized}
	KeyRevoked   = Kind{"key_revoked", http.StatusUnauthorized}
	KeyExpired   = Kind{"key_expired", http.StatusUnauthorized}
	Scope        = Kind{"scope", http.StatusForbidden}
	Path         = Kind{"path", http.StatusNotFound}
	Method       = Kind{"method", http.StatusMethodNotAllowed}
	Host         = Kind{"host", http.StatusMisdirectedRequest}
	Invalid      = Kind{"invalid", http.StatusBadRequest}   // with errors
	Malformed    = Kind{"malformed", http.StatusBadRequest} // the body as a whole
	TooLarge     = Kind{"too_large", http.StatusRequestEntityTooLarge}
	ContentType  = Kind{"content_type", http.StatusUnsupportedMediaType}
	Precondition = Kind{"precondition", http.StatusPreconditionFailed}
	KeyReused    = Kind{"key_reused", http.StatusUnprocessableEntity}
	InFlight     = Kind{"in_flight", http.StatusConflict}
	TooMany      = Kind{"rate_limit", http.StatusTooManyRequests}
	Busy         = Kind{"busy", http.StatusServiceUnavailable}
	Stopping     = Kind{"stopping", http.StatusServiceUnavailable}
	Unavailable  = Kind{"unavailable", http.StatusServiceUnavailable}
	Full         = Kind{"full", http.StatusInsufficientStorage}
	Internal     = Kind{"internal", http.StatusInternalServerError}
)

// title returns the name of the status. Go still has two names from before
// RFC 9110.
func (k Kind) title() string {
	switch k.Status {
	case http.StatusRequestEntityTooLarge:
		return "Content Too Large"
	case http.StatusUnprocessableEntity:
		return "Unprocessable Content"
	}
	return http.StatusText(k.Status)
}
