package payhook

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// serve starts a server that answers its requests from a list; the last answer repeats. It returns a client and the requests.
func serve(t *testing.T, answers ...http.HandlerFunc) (*Client, *[]*http.Request) {
	t.Helper()
	var seen []*http.Request
	server := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		request.Body = io.NopCloser(strings.NewReader(string(body)))
		answer := answers[min(len(seen), len(answers)-1)]
		seen = append(seen, request)
		answer(writer, request)
	}))
	t.Cleanup(server.Close)
	client, err := New(server.URL, Bearer("secret"))
	if err != nil {
		t.Fatal(err)
	}
	return client, &seen
}

func answer(status int, body string, headers ...string) http.HandlerFunc {
	return func(writer http.ResponseWriter, _ *http.Request) {
		for index := 0; index < len(headers); index += 2 {
			writer.Header().Set(headers[index], headers[index+1])
		}
		writer.WriteHeader(status)
		_, _ = io.WriteString(writer, body)
	}
}

func TestOptionalFieldsAreLeftOutSetOrCleared(t *testing.T) {
	for _, one := range []struct {
		field Optional[string]
		want  string
	}{
		{Optional[string]{}, `{}`}, {Set("Ada"), `{"name_first":"Ada"}`}, {Null[string](), `{"name_first":null}`},
	} {
		text, err := json.Marshal(ChangeAffiliateBody{NameFirst: one.field})
		if err != nil || string(text) != one.want {
			t.Errorf("%s, %v; want %s", text, err, one.want)
		}
	}
}

func TestMoneyIsExact(t *testing.T) {
	client, _ := serve(t, answer(200, `{"id":"po_1","amount":9007199254740993}`))
	payout, err := client.Payouts.Get(context.Background(), "po_1")
	if err != nil || payout.Amount == nil || *payout.Amount != 9007199254740993 {
		t.Errorf("%+v, %v", payout, err)
	}
}

func TestAWriteIsSentAgainWithItsKey(t *testing.T) {
	client, seen := serve(t, answer(504, "<h1>Gateway Time-out</h1>"), answer(201, `{"id":"po_1"}`))
	if _, err := client.Payouts.Create(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	first, second := (*seen)[0].Header.Get("Idempotency-Key"), (*seen)[1].Header.Get("Idempotency-Key")
	if len(*seen) != 2 || first == "" || first != second {
		t.Errorf("%d requests with %q and %q", len(*seen), first, second)
	}
}

func TestAnEndedContextLeavesTheOutcomeOfAWriteUnknown(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	client, _ := serve(t, func(http.ResponseWriter, *http.Request) { cancel() })
	_, err := client.Payouts.Create(ctx, nil)
	var unknown *UnknownOutcomeError
	if !errors.As(err, &unknown) || !errors.Is(err, context.Canceled) || unknown.IdempotencyKey == "" {
		t.Errorf("%T %v", err, err)
	}
}

func TestAnInvalidIDIsNotSent(t *testing.T) {
	client, seen := serve(t, answer(200, `{}`))
	for _, id := range []string{"", ".", ".."} {
		_, err := client.Payouts.Get(context.Background(), id)
		var invalid *InvalidIDError
		if !errors.As(err, &invalid) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if _, err := client.Payouts.Get(context.Background(), "a/../b?c#d"); err != nil {
		t.Fatal(err)
	}
	if len(*seen) != 1 || (*seen)[0].RequestURI != "/v2/affiliates/payouts/a%2F..%2Fb%3Fc%23d" {
		t.Errorf("%d requests, the first for %s", len(*seen), (*seen)[0].RequestURI)
	}
}

func TestASavedDownloadAppearsWhenItIsComplete(t *testing.T) {
	client, _ := serve(t,
		answer(200, "a,b\r\n", "Content-Disposition", `attachment; filename="payout-1.csv"`, "ETag", `"3"`),
		answer(200, "a,", "Content-Length", "100"))
	path := filepath.Join(t.TempDir(), "payout.csv")
	file, err := client.Payouts.Download(context.Background(), "po_1")
	if err != nil || file.Name != "payout-1.csv" || file.Revision == nil || *file.Revision != 3 {
		t.Fatalf("%+v, %v", file, err)
	}
	if err := file.Save(path); err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != "a,b\r\n" {
		t.Errorf("%q, %v", content, err)
	}
	cut, err := client.Payouts.Download(context.Background(), "po_1")
	if err != nil {
		t.Fatal(err)
	}
	var lost *ConnectionError
	if err := cut.Save(path + "2"); !errors.As(err, &lost) {
		t.Errorf("%v", err)
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("%v", files)
	}
}

func TestAReceiverCanBeTestedWithSignedWebhooks(t *testing.T) {
	secret := "whsec_YSBzZWNyZXQgb2YgMzIgYnl0ZXMsIGZvciB0ZXN0cyE="
	body := []byte(`{"id":"evt_1","type":"payout.paid","data":{"id":"po_1","number":7}}`)
	header, err := SignWebhook(body, "evt_1", time.Now(), secret)
	if err != nil {
		t.Fatal(err)
	}
	event, err := VerifyWebhook(body, header, "whsec_b3RoZXI=", secret)
	if err != nil {
		t.Fatal(err)
	}
	var payout PayoutSummary
	if err := event.Decode(&payout); err != nil || event.Type != EventPayoutPaid || payout.ID != "po_1" {
		t.Errorf("%+v %+v %v", event, payout, err)
	}
	body[len(body)-2]++
	var refused *WebhookError
	if _, err := VerifyWebhook(body, header, secret); !errors.As(err, &refused) || refused.Problem != "wrong_signature" {
		t.Errorf("%v", err)
	}
}
