package payhook

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// APIError says that the API refused the request, and nothing was changed. Branch on Reason, show Message to people.
type APIError struct {
	Status int
	// One of the six codes of the API.
	Code string
	// The Payhook-Reason header, a stable name of the cause (docs/errors.md). Empty if something between client and server
	// responded instead.
	Reason  string
	Message string
	// Identifies the request in the server's log.
	RequestID string
	// When the server asked to retry; 0 if it did not.
	RetryAfter time.Duration

	asksToRetry bool
}

func (err *APIError) Error() string {
	if err.Reason == "" {
		return fmt.Sprintf("payhook: %s", err.Message)
	}
	return fmt.Sprintf("payhook: %s (%s)", err.Message, err.Reason)
}

// ConnectionError says that the API sent no complete response, and nothing was changed: nothing reached the server, or the call was
// a read. It wraps the cause.
type ConnectionError struct {
	Message string
	// Those of an incomplete or foreign response.
	Status    int
	RequestID string
	Err       error
}

func (err *ConnectionError) Error() string { return "payhook: " + err.Message }

// Unwrap returns the cause.
func (err *ConnectionError) Unwrap() error { return err.Err }

// UnknownOutcomeError says that the API sent no complete response to a write, which may have been done. Repeat the call with the same
// IdempotencyKey, or read the record. It wraps the cause.
type UnknownOutcomeError struct {
	Message string
	// Empty for a DELETE, which has no key.
	IdempotencyKey string
	// Those of an incomplete or foreign response.
	Status    int
	RequestID string
	Err       error
}

func (err *UnknownOutcomeError) Error() string { return "payhook: " + err.Message }

// Unwrap returns the cause.
func (err *UnknownOutcomeError) Unwrap() error { return err.Err }

// InvalidIDError says that an id is empty or a dot, which would address another operation. Nothing was sent.
type InvalidIDError struct {
	Name string
	ID   string
}

func (err *InvalidIDError) Error() string {
	return fmt.Sprintf("payhook: %s must be an id, not %q", err.Name, err.ID)
}

// Reasons that leave the outcome open: the server failed or lost its database, perhaps during the commit.
var unsure = map[string]bool{"internal_error": true, "database_unavailable": true}

// Responses that the server can send before it looks up the stored response of an idempotency key.
var unread = map[int]bool{http.StatusUnauthorized: true, http.StatusForbidden: true, http.StatusTooManyRequests: true}

// finalError is the error of a call after its last attempt: *APIError only if nothing was changed for certain.
func finalError(err error, isWrite, mayBeDone bool, key string) error {
	var refusal *APIError
	var lost *ConnectionError
	var status int
	var requestID, message string
	switch {
	case errors.As(err, &refusal):
		isOurs := refusal.Reason != "" && !(isWrite && unsure[refusal.Reason])
		isRefusal := isOurs && !mayBeDone
		if refusal.Status < 500 {
			isRefusal = !(mayBeDone && unread[refusal.Status])
		}
		if isRefusal {
			return refusal
		}
		status, requestID, message = refusal.Status, refusal.RequestID, refusal.Message
	case errors.As(err, &lost):
		status, requestID, message = lost.Status, lost.RequestID, lost.Message
	case !mayBeDone:
		return err
	default:
		message = err.Error()
	}
	if isWrite && (refusal != nil || mayBeDone) {
		return &UnknownOutcomeError{
			Message:        message + "; it is not known whether the request was carried out",
			IdempotencyKey: key, Status: status, RequestID: requestID, Err: causeOf(err),
		}
	}
	return &ConnectionError{Message: message, Status: status, RequestID: requestID, Err: causeOf(err)}
}

// causeOf is the cause that an error may wrap. An *APIError is none: errors.As would find it, and report a refusal.
func causeOf(err error) error {
	var refusal *APIError
	var lost *ConnectionError
	switch {
	case errors.As(err, &refusal):
		return nil
	case errors.As(err, &lost):
		return lost.Err
	}
	return err
}
