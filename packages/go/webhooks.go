package payhook

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// ReceivedEvent is an event of a webhook. Type is one of the Event constants, or that of an event of your own.
type ReceivedEvent struct {
	ID         string    `json:"id"`
	Type       string    `json:"type"`
	Timestamp  time.Time `json:"timestamp"`
	AccountID  string    `json:"account_id"`
	APIVersion string    `json:"api_version"`
	// Sent to test the endpoint: nothing happened.
	IsTest bool `json:"is_test"`
	// How the fields of Data changed, in events that report an update.
	Changes *Changes `json:"changes"`
	// The record, such as a PayoutSummary for payout.paid; see Decode. Empty at an endpoint with thin payloads.
	Data json.RawMessage `json:"data"`
}

// Decode reads the data into a record: var payout payhook.PayoutSummary; err := event.Decode(&payout).
func (event *ReceivedEvent) Decode(record any) error { return json.Unmarshal(event.Data, record) }

// WebhookError says that a webhook must not be trusted. Respond with 400.
type WebhookError struct {
	// missing_headers, timestamp_out_of_range, wrong_signature, invalid_secret or invalid_payload
	Problem string
	Message string
}

func (err *WebhookError) Error() string { return "payhook: " + err.Message }

const tolerance = 5 * time.Minute

var (
	secretForm    = regexp.MustCompile(`^(whsec_|whpk_|whsk_)([A-Za-z0-9+/]{4,}={0,2})$`)
	timestampForm = regexp.MustCompile(`^[0-9]{1,12}$`)
)

// VerifyWebhook verifies a webhook (Standard Webhooks) and returns its event.
//
// body must be the raw body as received: parsing and writing it again changes the bytes. secrets are the endpoint's secret (whsec_…)
// or public key (whpk_…), or several, of which one must match, so that it can be rotated without downtime. A timestamp more than 5 minutes off is
// refused, to prevent replays. The same event may still be delivered twice: remember its ID. The error is a *WebhookError if the webhook
// is not genuine. Do not use any part of it then.
func VerifyWebhook(body []byte, header http.Header, secrets ...string) (*ReceivedEvent, error) {
	var event ReceivedEvent
	if err := verify(body, header, secrets, &event); err != nil {
		return nil, err
	}
	return &event, nil
}

// VerifyWebhooks does the same for an endpoint with batch: it returns the events in order. Without batch, the single event.
func VerifyWebhooks(body []byte, header http.Header, secrets ...string) ([]ReceivedEvent, error) {
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		event, err := VerifyWebhook(body, header, secrets...)
		if err != nil {
			return nil, err
		}
		return []ReceivedEvent{*event}, nil
	}
	var events []ReceivedEvent
	err := verify(body, header, secrets, &events)
	return events, err
}

// SignWebhook returns the headers with which Payhook would send this body at a time, to test a receiver. secrets are secrets (whsec_…)
// or private keys (whsk_…).
func SignWebhook(body []byte, id string, at time.Time, secrets ...string) (http.Header, error) {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	signatures := make([]string, 0, len(secrets))
	for _, secret := range secrets {
		kind, key, err := keyOf(secret)
		if err != nil {
			return nil, err
		}
		switch {
		case kind == "whsec_":
			signatures = append(signatures, signature(key, content(id, timestamp, body)))
		case kind == "whsk_" && len(key) == ed25519.PrivateKeySize:
			signed := ed25519.Sign(key, content(id, timestamp, body))
			signatures = append(signatures, "v1a,"+base64.StdEncoding.EncodeToString(signed))
		default:
			return nil, &WebhookError{"invalid_secret", "a secret must be whsec_ followed by a base64 key, or a private key whsk_…"}
		}
	}
	header := http.Header{}
	header.Set("webhook-id", id)
	header.Set("webhook-timestamp", timestamp)
	header.Set("webhook-signature", strings.Join(signatures, " "))
	return header, nil
}

func verify(body []byte, header http.Header, secrets []string, target any) error {
	keys := make([]func(message []byte, given string) bool, 0, len(secrets))
	for _, secret := range secrets {
		key, err := verifierOf(secret)
		if err != nil {
			return err
		}
		keys = append(keys, key)
	}
	id, timestamp, signatures := header.Get("webhook-id"), header.Get("webhook-timestamp"), header.Get("webhook-signature")
	if id == "" || timestamp == "" || signatures == "" {
		return &WebhookError{"missing_headers", "webhook-id, webhook-timestamp and webhook-signature must all be present"}
	}
	if err := checkTimestamp(timestamp); err != nil {
		return err
	}
	isRight := false
	message := content(id, timestamp, body)
	for _, verifies := range keys {
		for _, given := range strings.Split(signatures, " ") {
			// every pair is compared
			isRight = verifies(message, given) || isRight
		}
	}
	if !isRight {
		return &WebhookError{"wrong_signature", "no signature matches"}
	}
	if err := json.Unmarshal(body, target); err != nil {
		return &WebhookError{"invalid_payload", "the signature matches, but the body is not a JSON object"}
	}
	return nil
}

// What verifies one signature of a message.
func verifierOf(secret string) (func(message []byte, given string) bool, error) {
	kind, key, err := keyOf(secret)
	if err != nil {
		return nil, err
	}
	switch {
	case kind == "whsec_":
		// in constant time
		return func(message []byte, given string) bool {
			return hmac.Equal([]byte(signature(key, message)), []byte(given))
		}, nil
	case kind == "whpk_" && len(key) == ed25519.PublicKeySize:
		return func(message []byte, given string) bool {
			text, isOfKey := strings.CutPrefix(given, "v1a,")
			signed, err := base64.StdEncoding.Strict().DecodeString(text)
			return isOfKey && err == nil && ed25519.Verify(key, message, signed)
		}, nil
	}
	return nil, &WebhookError{"invalid_secret", "a secret must be whsec_ followed by a base64 key, or a public key whpk_…"}
}

// The prefix of a secret, and its key.
func keyOf(secret string) (string, []byte, error) {
	match := secretForm.FindStringSubmatch(secret)
	if match != nil {
		if key, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(match[2], "=")); err == nil {
			return match[1], key, nil
		}
	}
	return "", nil, &WebhookError{"invalid_secret", "a secret must be whsec_ or a key whpk_, followed by base64"}
}

// The bytes that a signature covers.
func content(id, timestamp string, body []byte) []byte {
	return append([]byte(id+"."+timestamp+"."), body...)
}

func signature(key, message []byte) string {
	digest := hmac.New(sha256.New, key)
	digest.Write(message)
	return "v1," + base64.StdEncoding.EncodeToString(digest.Sum(nil))
}

func checkTimestamp(timestamp string) error {
	if !timestampForm.MatchString(timestamp) {
		return &WebhookError{"timestamp_out_of_range", "webhook-timestamp is not a time in seconds since 1970"}
	}
	at, _ := strconv.ParseInt(timestamp, 10, 64)
	age := time.Since(time.Unix(at, 0))
	if age.Abs() <= tolerance {
		return nil
	}
	direction := "old"
	if age < 0 {
		direction = "ahead"
	}
	minutes := int(age.Abs().Round(time.Minute).Minutes())
	return &WebhookError{"timestamp_out_of_range",
		fmt.Sprintf("webhook-timestamp is %d minutes %s: at most 5 minutes are allowed", minutes, direction)}
}
