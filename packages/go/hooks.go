package payhook

import "time"

// RequestInfo is an attempt that is about to be sent.
type RequestInfo struct {
	Method string
	// Path is without the query, which may name people.
	Path string
	// Attempt is 1, and more for retries.
	Attempt int
	// IdempotencyKey is the same in every attempt, and empty for GET and DELETE.
	IdempotencyKey string
}

// ResponseInfo is the end of an attempt.
type ResponseInfo struct {
	RequestInfo
	// Status is 0 if no complete response arrived.
	Status    int
	RequestID string
	// Replayed says that the server returned the stored response of an earlier request with this key.
	Replayed bool
	// Duration is the time to reading the response; of a download, to its first byte.
	Duration time.Duration
	// Err is why the attempt failed.
	Err error
}

// WithOnRequest sets a function that is called before each attempt, for logs and metrics.
func WithOnRequest(report func(RequestInfo)) Option {
	return func(calls *calls) { calls.onRequest = report }
}

// WithOnResponse sets a function that is called after each attempt, with its response or its failure.
func WithOnResponse(report func(ResponseInfo)) Option {
	return func(calls *calls) { calls.onResponse = report }
}

// observed sends an attempt, and reports its start and its end.
func (calls *calls) observed(call *call, attempt int, send func() failure) failure {
	info := RequestInfo{Method: call.method, Path: call.called, Attempt: attempt, IdempotencyKey: call.key}
	if calls.onRequest != nil {
		calls.onRequest(info)
	}
	started := time.Now()
	result := send()
	if calls.onResponse != nil {
		calls.onResponse(ResponseInfo{
			RequestInfo: info,
			Status:      result.status,
			RequestID:   result.header.Get("Payhook-Request-Id"),
			Replayed:    result.header.Get("Idempotent-Replayed") == "true",
			Duration:    time.Since(started),
			Err:         result.err,
		})
	}
	return result
}
