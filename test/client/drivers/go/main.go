// Makes the calls of test/client/behaviours.ts with the client in Go: a JSON object per line in, the result per line out.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"payhook"
)

type call struct {
	Verb        string                       `json:"verb"`
	URL         string                       `json:"url"`
	Key         string                       `json:"key"`
	IfMatch     *int64                       `json:"ifMatch"`
	Count       int                          `json:"count"`
	Bytes       int                          `json:"bytes"`
	Retries     *int                         `json:"retries"`
	TimeoutMs   int64                        `json:"timeoutMs"`
	ExpiresIn   *int64                       `json:"expiresIn"`
	Application *struct{ ID, Secret string } `json:"application"`
	Code        string                       `json:"code"`
	Verifier    string                       `json:"verifier"`
	Body        string                       `json:"body"`
	ID          string                       `json:"id"`
	Timestamp   int64                        `json:"timestamp"`
	Headers     map[string]string            `json:"headers"`
	Secrets     []string                     `json:"secrets"`
}

func (call call) client(credentials payhook.Credentials, options ...payhook.Option) (*payhook.Client, error) {
	if call.Retries != nil {
		options = append(options, payhook.WithRetries(*call.Retries))
	}
	if call.TimeoutMs > 0 {
		options = append(options, payhook.WithTimeout(time.Duration(call.TimeoutMs)*time.Millisecond))
	}
	return payhook.New(call.URL, credentials, options...)
}

func (call call) options() []payhook.CallOption {
	options := []payhook.CallOption{}
	if call.Key != "" {
		options = append(options, payhook.IdempotencyKey(call.Key))
	}
	if call.IfMatch != nil {
		options = append(options, payhook.IfMatch(*call.IfMatch))
	}
	return options
}

// run makes a call. seen gets the records of a loop as they come.
func run(ctx context.Context, call call, seen *[]int64) (any, error) {
	switch {
	case call.Verb == "verify":
		header := http.Header{}
		for name, value := range call.Headers {
			header.Set(name, value)
		}
		return payhook.VerifyWebhooks([]byte(call.Body), header, call.Secrets...)
	case call.Verb == "sign":
		header, err := payhook.SignWebhook([]byte(call.Body), call.ID, time.Unix(call.Timestamp, 0), call.Secrets...)
		headers := map[string]string{}
		for name := range header {
			headers[strings.ToLower(name)] = header.Get(name)
		}
		return headers, err
	case call.Verb == "observe":
		return observed(ctx, call)
	case strings.HasPrefix(call.Verb, "oauth"):
		return withOAuth(ctx, call, seen)
	}
	client, err := call.client(payhook.Bearer("secret"))
	if err != nil {
		return nil, err
	}
	defer client.Close()
	return withClient(ctx, client, call, seen)
}

func withOAuth(ctx context.Context, call call, seen *[]int64) (any, error) {
	var kept *payhook.Tokens
	saved := []*string{}
	if call.ExpiresIn != nil {
		expires := time.Now().Add(time.Duration(*call.ExpiresIn) * time.Second)
		kept = &payhook.Tokens{AccessToken: "old", RefreshToken: "refresh-1", ExpiresAt: expires, Scope: "affiliates"}
	}
	id, secret := "app_1", "phs_1"
	if call.Application != nil {
		id, secret = call.Application.ID, call.Application.Secret
	}
	oauth, err := payhook.NewOAuth(payhook.OAuthConfig{
		URL: call.URL, ClientID: id, ClientSecret: secret, RedirectURI: "https://shop.example.com/callback",
		Load: func(context.Context) (*payhook.Tokens, error) { return kept, nil },
		Save: func(_ context.Context, tokens *payhook.Tokens) error {
			kept = tokens
			if tokens == nil {
				saved = append(saved, nil)
			} else {
				saved = append(saved, &tokens.AccessToken)
			}
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	switch call.Verb {
	case "oauth_authorization":
		request := oauth.Authorization("affiliates", "webhooks")
		return map[string]string{"url": request.URL, "state": request.State, "verifier": request.CodeVerifier}, nil
	case "oauth_exchange":
		tokens, err := oauth.Exchange(ctx, cmp.Or(call.Code, "phc_1"), cmp.Or(call.Verifier, "the verifier"))
		if err != nil {
			return nil, err
		}
		return map[string]any{"access": tokens.AccessToken, "refresh": tokens.RefreshToken, "saved": saved}, nil
	case "oauth_revoke":
		err := oauth.Revoke(ctx)
		return map[string]any{"saved": saved}, err
	}
	client, err := call.client(oauth)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	_, err = withClient(ctx, client, call, seen)
	return map[string]any{"seen": *seen, "saved": saved}, err
}

// observed creates a payout, and reports what the hooks got.
func observed(ctx context.Context, call call) (any, error) {
	requests, responses := []any{}, []any{}
	about := func(info payhook.RequestInfo) map[string]any {
		return map[string]any{"method": info.Method, "path": info.Path, "attempt": info.Attempt, "key": info.IdempotencyKey}
	}
	orNull := func(isThere bool, value any) any {
		if isThere {
			return value
		}
		return nil
	}
	client, err := call.client(
		payhook.Bearer("secret"),
		payhook.WithOnRequest(func(info payhook.RequestInfo) { requests = append(requests, about(info)) }),
		payhook.WithOnResponse(func(info payhook.ResponseInfo) {
			response := about(info.RequestInfo)
			response["status"] = orNull(info.Status != 0, info.Status)
			response["requestId"] = orNull(info.RequestID != "", info.RequestID)
			response["replayed"], response["isFailure"] = info.Replayed, info.Err != nil
			responses = append(responses, response)
		}),
	)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	_, err = client.Payouts.Create(ctx, nil, call.options()...)
	return map[string]any{"requests": requests, "responses": responses}, err
}

func withClient(ctx context.Context, client *payhook.Client, call call, seen *[]int64) (any, error) {
	options := call.options()
	switch call.Verb {
	case "read":
		return client.Account.Get(ctx, options...)
	case "create":
		body := &payhook.PayoutSelection{Filters: payhook.Set(payhook.PayoutFilters{Currency: "usd"})}
		return client.Payouts.Create(ctx, body, options...)
	case "create_affiliate":
		return client.Affiliates.Create(ctx, payhook.CreateAffiliateBody{Email: "ada@example.com"}, options...)
	case "complete":
		body := payhook.CompletePayoutBody{Commissions: []payhook.CompletePayoutBodyCommissionsItem{}, RequireAll: payhook.Ptr(true)}
		return client.Payouts.Complete(ctx, "po_1", body, options...)
	case "delete":
		return nil, client.Payouts.Delete(ctx, "po_1", options...)
	case "page":
		page, err := client.Affiliates.List(ctx, &payhook.ListAffiliatesQuery{Status: "active", PerPage: 2})
		if err != nil {
			return nil, err
		}
		ids := []int64{}
		for _, affiliate := range page.Data {
			ids = append(ids, affiliate.ID)
		}
		return ids, nil
	case "all", "oauth_all":
		for affiliate, err := range client.Affiliates.All(ctx, nil) {
			if err != nil {
				return nil, err
			}
			*seen = append(*seen, affiliate.ID)
		}
		return *seen, nil
	case "publish":
		events := []payhook.PublishEventBody{}
		for range call.Count {
			data := map[string]any{"text": strings.Repeat("x", max(call.Bytes, 1))}
			events = append(events, payhook.PublishEventBody{Type: "order.created", Data: data})
		}
		batch, err := client.Events.PublishMany(ctx, payhook.PublishEventBatchBody{Events: events}, options...)
		if err != nil {
			return nil, err
		}
		indexes := []int64{}
		for _, item := range batch.Items {
			indexes = append(indexes, item.Index)
		}
		return indexes, nil
	case "invalid_id":
		return client.Payouts.Get(ctx, "..")
	case "upload":
		return client.Affiliates.Import(ctx, payhook.UploadBytes([]byte("email\nzoë@example.com\n")), nil, options...)
	case "upload_once":
		return client.Affiliates.Import(ctx, payhook.UploadReader(strings.NewReader("email\n")), nil, options...)
	case "download":
		file, err := client.Payouts.Download(ctx, "po_1")
		if err != nil {
			return nil, err
		}
		defer file.Close()
		content, err := io.ReadAll(file)
		return map[string]any{"name": file.Name, "revision": file.Revision, "content": string(content)}, err
	}
	return nil, fmt.Errorf("no verb %s", call.Verb)
}

func failureOf(err error) map[string]any {
	result := map[string]any{"message": err.Error()}
	var refused *payhook.APIError
	var unknown *payhook.UnknownOutcomeError
	var lost *payhook.ConnectionError
	var invalid *payhook.InvalidIDError
	var oauth *payhook.OAuthError
	var webhook *payhook.WebhookError
	switch {
	case errors.As(err, &refused):
		result["outcome"], result["status"], result["code"] = "refused", refused.Status, refused.Code
		result["requestId"], result["retryAfter"] = refused.RequestID, int(refused.RetryAfter.Round(time.Second).Seconds())
		if refused.Reason != "" {
			result["reason"] = refused.Reason
		}
	case errors.As(err, &unknown):
		result["outcome"], result["key"], result["status"] = "unknown", unknown.IdempotencyKey, unknown.Status
	case errors.As(err, &lost):
		result["outcome"], result["status"] = "not_done", lost.Status
	case errors.As(err, &invalid):
		result["outcome"] = "invalid_id"
	case errors.As(err, &oauth):
		result["outcome"], result["code"] = "oauth", oauth.Code
	case errors.As(err, &webhook):
		result["outcome"], result["code"] = "not_genuine", webhook.Problem
	default:
		result["outcome"] = fmt.Sprintf("%T", err)
	}
	return result
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var one call
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			panic(err)
		}
		seen := []int64{}
		value, err := run(context.Background(), one, &seen)
		answer := map[string]any{"outcome": "ok", "value": value}
		if err != nil {
			answer = failureOf(err)
			answer["seen"] = seen
		}
		text, err := json.Marshal(answer)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(text))
	}
}
