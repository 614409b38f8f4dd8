// Package payhook is the typed client of Payhook, a self-hosted service for affiliate payouts and webhook delivery. It has a
// function for every operation of the API, and needs nothing but the standard library.
package payhook

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Credentials give a client its token. Bearer and *OAuth are credentials.
type Credentials interface {
	// AccessToken returns a token to send. refused is one that the server did not accept, or empty.
	AccessToken(ctx context.Context, refused string) (string, error)
}

// Bearer is an API key, or an access token that is not refreshed.
type Bearer string

// AccessToken returns the key.
func (key Bearer) AccessToken(context.Context, string) (string, error) { return string(key), nil }

// Client calls the API of one server. It is safe for concurrent use. Calls return *APIError, *ConnectionError or
// *UnknownOutcomeError.
type Client struct {
	Resources
	http *http.Client
}

// Option changes how a client works.
type Option func(*calls)

// WithRetries sets how often a request is sent again where that is safe. The default is 3.
func WithRetries(count int) Option { return func(calls *calls) { calls.retries = count } }

// WithTimeout sets how long an attempt may go without data from the server. The default is 10 minutes, because a large payout or
// import takes minutes.
func WithTimeout(timeout time.Duration) Option { return func(calls *calls) { calls.timeout = timeout } }

// WithUserAgent names the caller, such as my-shop/1.4, for logs.
func WithUserAgent(name string) Option { return func(calls *calls) { calls.userAgent = name } }

// WithHTTPClient sets the client of net/http, for a proxy or certificates. Its CheckRedirect and Timeout are not used: the API sends no
// redirects, and credentials must not follow one.
func WithHTTPClient(client *http.Client) Option {
	return func(calls *calls) { calls.http = withoutRedirects(*client) }
}

// New prepares a client of the server at this address. It sends nothing before the first call.
func New(address string, credentials Credentials, options ...Option) (*Client, error) {
	base, err := checkedURL(address)
	if err != nil {
		return nil, err
	}
	_, isKey := credentials.(Bearer)
	calls := &calls{
		base:        base,
		credentials: credentials,
		renews:      !isKey,
		http:        defaultHTTPClient(),
		retries:     3,
		timeout:     10 * time.Minute,
		userAgent:   "payhook-go",
	}
	for _, option := range options {
		option(calls)
	}
	return &Client{Resources: resourcesOver(calls), http: calls.http}, nil
}

// Close closes the connections that are not in use.
func (client *Client) Close() { client.http.CloseIdleConnections() }

func checkedURL(address string) (string, error) {
	parsed, err := url.Parse(address)
	if err != nil || (parsed.Scheme != "http" && parsed.Scheme != "https") || parsed.Host == "" || parsed.User != nil {
		return "", errors.New("payhook: the address must be an http or https URL without a user name")
	}
	return strings.TrimRight(address, "/"), nil
}

func defaultHTTPClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	return withoutRedirects(http.Client{Transport: transport})
}

func withoutRedirects(client http.Client) *http.Client {
	client.Timeout = 0
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}

// CallOption changes a single call.
type CallOption func(*call)

// IdempotencyKey identifies a POST, PUT or PATCH, with up to 255 characters: the same call with the same key within 24 hours returns
// the stored response. By default each call has a random key, which covers its retries. Set your own to be able to repeat the call
// after a crash.
func IdempotencyKey(key string) CallOption { return func(call *call) { call.key = key } }

// IfMatch makes a call depend on the revision you have seen: it is refused with payout_changed if that is no longer current.
func IfMatch(revision int64) CallOption { return func(call *call) { call.ifMatch = &revision } }

// Retries overrides WithRetries for a call.
func Retries(count int) CallOption { return func(call *call) { call.retries = count } }

// Timeout overrides WithTimeout for a call.
func Timeout(timeout time.Duration) CallOption { return func(call *call) { call.timeout = timeout } }
