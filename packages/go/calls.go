package payhook

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	mathrand "math/rand/v2"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	firstPause     = 250 * time.Millisecond
	longestBackoff = 8 * time.Second
	// for a longer Retry-After the call fails, and the caller decides
	longestWait = time.Minute
)

// calls sends requests to one server.
type calls struct {
	base        string
	credentials Credentials
	renews      bool
	http        *http.Client
	retries     int
	timeout     time.Duration
	userAgent   string
	onRequest   func(RequestInfo)
	onResponse  func(ResponseInfo)
}

// request is a request of an operation.
type request struct {
	method string
	path   string
	parts  []any
	query  url.Values
	body   any
	file   Upload
	media  string
}

// call is a request with its options.
type call struct {
	request
	// called is the path with its parts
	called  string
	url     string
	json    []byte
	key     string
	ifMatch *int64
	retries int
	timeout time.Duration
}

func (call *call) isWrite() bool { return call.method != http.MethodGet }

// isKeyed says whether an idempotency key gives repeated requests a single effect.
func (call *call) isKeyed() bool { return call.isWrite() && call.method != http.MethodDelete }

func optionalBody(body any) any {
	if value := reflect.ValueOf(body); value.Kind() == reflect.Pointer && value.IsNil() {
		return nil
	}
	return body
}

// record sends a request whose response is JSON.
func record[Record any](ctx context.Context, calls *calls, request request, options []CallOption) (*Record, error) {
	var value Record
	err := calls.run(ctx, request, options, func(response *http.Response) error {
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			return err
		}
		decoder := json.NewDecoder(bytes.NewReader(text))
		// numbers in values of any type stay exact
		decoder.UseNumber()
		if err := decoder.Decode(&value); err != nil {
			return &foreignError{fmt.Errorf("the answer is not JSON of the API: is the address right? %w", err)}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &value, nil
}

func (calls *calls) nothing(ctx context.Context, request request, options []CallOption) error {
	return calls.run(ctx, request, options, func(response *http.Response) error {
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err == nil && len(text) > 0 {
			return &foreignError{errors.New("the answer is not from the API: is the address right?")}
		}
		return err
	})
}

func (calls *calls) download(ctx context.Context, request request, options []CallOption) (*Download, error) {
	var file *Download
	err := calls.run(ctx, request, options, func(response *http.Response) error {
		file = downloadOf(response)
		return nil
	})
	return file, err
}

// foreignError is a complete response that is not from the API: another attempt would get it again.
type foreignError struct{ error }

func (calls *calls) prepare(request request, options []CallOption) (*call, error) {
	call := &call{request: request, retries: calls.retries, timeout: calls.timeout}
	for _, option := range options {
		option(call)
	}
	path, err := pathOf(request.path, request.parts)
	if err != nil {
		return nil, err
	}
	call.called, call.url = path, calls.base+path
	if len(request.query) > 0 {
		call.url += "?" + request.query.Encode()
	}
	if request.body != nil {
		var buffer bytes.Buffer
		encoder := json.NewEncoder(&buffer)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(request.body); err != nil {
			return nil, fmt.Errorf("payhook: the body is not JSON: %w", err)
		}
		call.json = bytes.TrimRight(buffer.Bytes(), "\n")
	}
	if !call.isKeyed() {
		call.key = ""
	} else if call.key == "" {
		call.key = newKey()
	}
	return call, nil
}

// run carries out a call: it sends the request, and sends it again where that is safe.
//
//   - If nothing reached the server, or it rejected the request unread (429 with Retry-After), every request is sent again.
//   - If it may have been done (connection lost, timeout, 5xx with Retry-After, a gateway's 502, 503 or 504), GET is sent again, and
//     so are POST, PUT and PATCH, which have an idempotency key.
//   - DELETE has no such key: the caller decides.
func (calls *calls) run(ctx context.Context, request request, options []CallOption, read func(*http.Response) error) error {
	call, err := calls.prepare(request, options)
	if err != nil {
		return err
	}
	mayBeDone := false
	refused := ""
	for attempt, sent := 1, 1; ; attempt, sent = attempt+1, sent+1 {
		token, err := calls.credentials.AccessToken(ctx, refused)
		if err != nil {
			return finalError(err, call.isWrite(), mayBeDone, call.key)
		}
		result := calls.observed(call, sent, func() failure { return calls.send(ctx, call, token, read) })
		if result.err == nil {
			return nil
		}
		if calls.renews && refused == "" && result.status == http.StatusUnauthorized && call.file.isRepeatable() {
			refused = token
			attempt--
			continue
		}
		pause, again := time.Duration(0), false
		if attempt <= call.retries && call.file.isRepeatable() && ctx.Err() == nil {
			pause, again = pauseBefore(result, attempt, !call.isWrite() || call.isKeyed())
		}
		if call.isWrite() && !result.isUnread && (again || result.status == 0) {
			mayBeDone = true
		}
		if !again {
			return finalError(result.err, call.isWrite(), mayBeDone, call.key)
		}
		select {
		case <-ctx.Done():
			return finalError(&ConnectionError{Message: ctx.Err().Error(), Err: ctx.Err()}, call.isWrite(), mayBeDone, call.key)
		case <-time.After(pause):
		}
	}
}

// failure is how an attempt ended; err is nil if it succeeded. status is 0 without a complete response.
type failure struct {
	err      error
	status   int
	header   http.Header
	isUnread bool
	mayPass  bool
}

func (calls *calls) send(ctx context.Context, call *call, token string, read func(*http.Response) error) failure {
	watch := newWatch(ctx, call.timeout)
	httpRequest, err := calls.build(watch, call, token)
	if err != nil {
		watch.end()
		return failure{err: &ConnectionError{Message: err.Error(), Err: err}, isUnread: true}
	}
	response, err := calls.http.Do(httpRequest)
	if err != nil {
		defer watch.end()
		return watch.lost(calls.base, err)
	}
	response.Body = watch.body(response.Body)
	if response.StatusCode >= 200 && response.StatusCode < 300 {
		err := read(response)
		if err == nil {
			return failure{status: response.StatusCode, header: response.Header}
		}
		var foreign *foreignError
		if errors.As(err, &foreign) {
			return failure{err: &ConnectionError{Message: foreign.Error(), Err: err}}
		}
		return watch.lost(calls.base, err)
	}
	text, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil {
		return watch.lost(calls.base, err)
	}
	refusal := refusalOf(response, text)
	isGateway := response.StatusCode == 502 || response.StatusCode == 503 || response.StatusCode == 504
	return failure{
		err:      refusal,
		status:   response.StatusCode,
		header:   response.Header,
		isUnread: response.StatusCode == http.StatusTooManyRequests && refusal.asksToRetry,
		mayPass:  response.StatusCode >= 500 && (refusal.asksToRetry || isGateway),
	}
}

func (calls *calls) build(watch *watch, call *call, token string) (*http.Request, error) {
	var body io.Reader
	if call.json != nil {
		body = bytes.NewReader(call.json)
	}
	if call.file.open != nil {
		file, err := call.file.open()
		if err != nil {
			return nil, err
		}
		body = watch.upload(file)
	}
	built, err := http.NewRequestWithContext(watch.ctx, call.method, call.url, body)
	if err != nil {
		return nil, err
	}
	built.Header.Set("Authorization", "Bearer "+token)
	built.Header.Set("User-Agent", calls.userAgent)
	if call.key != "" {
		built.Header.Set("Idempotency-Key", call.key)
	}
	if call.ifMatch != nil {
		built.Header.Set("If-Match", fmt.Sprintf("%q", strconv.FormatInt(*call.ifMatch, 10)))
	}
	if call.json != nil {
		built.Header.Set("Content-Type", "application/json")
	}
	if call.file.open != nil {
		built.Header.Set("Content-Type", call.media)
		built.ContentLength = call.file.size
	}
	return built, nil
}

// pauseBefore is how long to wait before the next attempt, and whether there may be one.
func pauseBefore(result failure, attempt int, isSafe bool) (time.Duration, bool) {
	if !result.isUnread && !(isSafe && result.mayPass) {
		return 0, false
	}
	var asked time.Duration
	var refusal *APIError
	if errors.As(result.err, &refusal) {
		asked = refusal.RetryAfter
	}
	if asked > longestWait {
		return 0, false
	}
	backoff := min(time.Duration(float64(firstPause)*math.Pow(2, float64(attempt-1))), longestBackoff)
	// jitter, so that clients that failed together do not retry together
	return max(time.Duration(float64(backoff)*(0.5+mathrand.Float64()/2)), asked), true
}

func refusalOf(response *http.Response, text []byte) *APIError {
	refusal := &APIError{
		Status:    response.StatusCode,
		Reason:    response.Header.Get("Payhook-Reason"),
		RequestID: response.Header.Get("Payhook-Request-Id"),
	}
	refusal.RetryAfter, refusal.asksToRetry = retryAfter(response.Header.Get("Retry-After"))
	var body struct {
		Error struct{ Code, Message string }
	}
	if err := json.Unmarshal(text, &body); err != nil || body.Error.Code == "" {
		// not an error of the API: something between client and server has responded
		refusal.Code = "internal_error"
		refusal.Message = fmt.Sprintf(
			"the server answered HTTP %d without an error of the API: is the address right?", response.StatusCode)
		return refusal
	}
	refusal.Code, refusal.Message = body.Error.Code, body.Error.Message
	return refusal
}

var seconds = regexp.MustCompile(`^\d{1,9}$`)

// retryAfter reads a Retry-After header (RFC 9110 section 10.2.3), which is a number of seconds or a date.
func retryAfter(header string) (time.Duration, bool) {
	if seconds.MatchString(header) {
		count, _ := strconv.Atoi(header)
		return time.Duration(count) * time.Second, true
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return 0, false
	}
	return max(0, time.Until(at)), true
}

var placeholder = regexp.MustCompile(`\{(\w+)\}`)

// pathOf fills in the parts of a path.
func pathOf(pattern string, parts []any) (string, error) {
	var invalid error
	index := 0
	path := placeholder.ReplaceAllStringFunc(pattern, func(name string) string {
		part := fmt.Sprint(parts[index])
		index++
		if part == "" || part == "." || part == ".." {
			invalid = &InvalidIDError{Name: strings.Trim(name, "{}"), ID: part}
		}
		return url.PathEscape(part)
	})
	return path, invalid
}

// newKey is a random UUID.
func newKey() string {
	var id [16]byte
	_, _ = rand.Read(id[:])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

func addString(values url.Values, name, value string) {
	if value != "" {
		values.Set(name, value)
	}
}

func addInt(values url.Values, name string, value int64) {
	if value != 0 {
		values.Set(name, strconv.FormatInt(value, 10))
	}
}

func addBool(values url.Values, name string, value *bool) {
	if value != nil {
		values.Set(name, strconv.FormatBool(*value))
	}
}
