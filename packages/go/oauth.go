package payhook

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Tokens are the tokens of a grant. Keep them secret.
type Tokens struct {
	AccessToken  string
	RefreshToken string
	// When the access token expires.
	ExpiresAt time.Time
	Scope     string
}

// Authorization says where to send the merchant's browser, and what to store with its session until it comes back.
type Authorization struct {
	URL          string
	State        string
	CodeVerifier string
}

// OAuthError says that the authorization server refused. Code is that of RFC 6749 section 5.2, such as invalid_grant.
type OAuthError struct {
	Code    string
	Message string
	Status  int
}

func (err *OAuthError) Error() string { return fmt.Sprintf("payhook: %s (%s)", err.Message, err.Code) }

// OAuthConfig describes an application (docs/oauth.md).
type OAuthConfig struct {
	URL      string
	ClientID string
	// Empty for a public application.
	ClientSecret string
	RedirectURI  string
	// Load and Save keep the tokens of a merchant, for example in a row of a database. Save is called with each new pair before it is
	// used, and with nil when they are revoked. Without them, the tokens are kept in memory.
	Load func(ctx context.Context) (*Tokens, error)
	Save func(ctx context.Context, tokens *Tokens) error
	// The client of net/http, for a proxy or certificates.
	HTTPClient *http.Client
}

// OAuth is an application and its tokens for one merchant. It gives a client its credentials, and refreshes the access token when it
// expires. It is safe for concurrent use.
type OAuth struct {
	config OAuthConfig
	base   string
	http   *http.Client
	mutex  sync.Mutex
	kept   *Tokens
}

// A token that expires within this time is refreshed before it is used.
const margin = 30 * time.Second

// NewOAuth prepares an application. It sends nothing.
func NewOAuth(config OAuthConfig) (*OAuth, error) {
	base, err := checkedURL(config.URL)
	if err != nil {
		return nil, err
	}
	client := defaultHTTPClient()
	if config.HTTPClient != nil {
		client = withoutRedirects(*config.HTTPClient)
	}
	client.Timeout = 30 * time.Second
	oauth := &OAuth{config: config, base: base, http: client}
	if config.Load == nil {
		oauth.config.Load = func(context.Context) (*Tokens, error) { return oauth.kept, nil }
		oauth.config.Save = func(_ context.Context, tokens *Tokens) error { oauth.kept = tokens; return nil }
	} else if config.Save == nil {
		return nil, errors.New("payhook: Load needs Save")
	}
	return oauth, nil
}

// Authorization makes a new authorization request with PKCE (RFC 7636) and a random state.
func (oauth *OAuth) Authorization(scopes ...string) Authorization {
	state, verifier := randomText(24), randomText(48)
	digest := sha256.Sum256([]byte(verifier))
	query := url.Values{
		"response_type":         {"code"},
		"client_id":             {oauth.config.ClientID},
		"redirect_uri":          {oauth.config.RedirectURI},
		"scope":                 {strings.Join(scopes, " ")},
		"state":                 {state},
		"code_challenge":        {base64.RawURLEncoding.EncodeToString(digest[:])},
		"code_challenge_method": {"S256"},
	}
	return Authorization{URL: oauth.base + "/oauth/authorize?" + query.Encode(), State: state, CodeVerifier: verifier}
}

// Exchange exchanges the code of the callback for tokens, and saves them. Check the state before.
func (oauth *OAuth) Exchange(ctx context.Context, code, codeVerifier string) (*Tokens, error) {
	oauth.mutex.Lock()
	defer oauth.mutex.Unlock()
	return oauth.request(ctx, url.Values{
		"grant_type":    {"authorization_code"},
		"code":          {code},
		"redirect_uri":  {oauth.config.RedirectURI},
		"code_verifier": {codeVerifier},
	})
}

// Refresh gets a new access token, and saves the tokens. The error is an *OAuthError invalid_grant if the grant has ended.
func (oauth *OAuth) Refresh(ctx context.Context) (*Tokens, error) {
	oauth.mutex.Lock()
	defer oauth.mutex.Unlock()
	tokens, err := oauth.current(ctx)
	if err != nil {
		return nil, err
	}
	return oauth.refreshed(ctx, tokens)
}

// Revoke ends the grant and all its tokens.
func (oauth *OAuth) Revoke(ctx context.Context) error {
	oauth.mutex.Lock()
	defer oauth.mutex.Unlock()
	tokens, err := oauth.current(ctx)
	if err != nil {
		return err
	}
	if err := oauth.post(ctx, "/oauth/revoke", url.Values{"token": {tokens.RefreshToken}}, nil); err != nil {
		return err
	}
	return oauth.config.Save(ctx, nil)
}

// AccessToken returns a valid access token. It refreshes the token if it has expired or is the one that was refused.
func (oauth *OAuth) AccessToken(ctx context.Context, refused string) (string, error) {
	oauth.mutex.Lock()
	defer oauth.mutex.Unlock()
	tokens, err := oauth.current(ctx)
	if err != nil {
		return "", err
	}
	if tokens.AccessToken == refused || time.Until(tokens.ExpiresAt) < margin {
		if tokens, err = oauth.refreshed(ctx, tokens); err != nil {
			return "", err
		}
	}
	return tokens.AccessToken, nil
}

func (oauth *OAuth) current(ctx context.Context) (*Tokens, error) {
	tokens, err := oauth.config.Load(ctx)
	if err == nil && tokens == nil {
		err = &OAuthError{Code: "no_tokens", Message: "there are no tokens yet: send the merchant to Payhook"}
	}
	return tokens, err
}

func (oauth *OAuth) refreshed(ctx context.Context, tokens *Tokens) (*Tokens, error) {
	return oauth.request(ctx, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {tokens.RefreshToken}})
}

func (oauth *OAuth) request(ctx context.Context, form url.Values) (*Tokens, error) {
	var body struct {
		AccessToken  string `json:"access_token"`
		RefreshToken string `json:"refresh_token"`
		ExpiresIn    int64  `json:"expires_in"`
		Scope        string `json:"scope"`
	}
	if err := oauth.post(ctx, "/oauth/token", form, &body); err != nil {
		return nil, err
	}
	tokens := &Tokens{
		AccessToken:  body.AccessToken,
		RefreshToken: body.RefreshToken,
		ExpiresAt:    time.Now().Add(time.Duration(body.ExpiresIn) * time.Second),
		Scope:        body.Scope,
	}
	return tokens, oauth.config.Save(ctx, tokens)
}

func (oauth *OAuth) post(ctx context.Context, path string, form url.Values, target any) error {
	if oauth.config.ClientSecret == "" {
		form.Set("client_id", oauth.config.ClientID)
	}
	var isConnected atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { isConnected.Store(true) },
	})
	request, err := http.NewRequestWithContext(traced, http.MethodPost, oauth.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if oauth.config.ClientSecret != "" {
		request.SetBasicAuth(oauth.config.ClientID, oauth.config.ClientSecret)
	}
	response, err := oauth.http.Do(request)
	if err != nil {
		return lostToken(err, isConnected.Load())
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return lostToken(err, true)
	}
	isSuccess := response.StatusCode >= 200 && response.StatusCode < 300
	if isSuccess && (target == nil || json.Unmarshal(text, target) == nil) {
		return nil
	}
	var refusal struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	if !isSuccess && response.StatusCode < 500 && json.Unmarshal(text, &refusal) == nil && refusal.Error != "" {
		return &OAuthError{Code: refusal.Error, Message: refusal.Description, Status: response.StatusCode}
	}
	message := fmt.Sprintf("the server answered HTTP %d without an OAuth response: is the address right?", response.StatusCode)
	return &UnknownOutcomeError{Message: message, Status: response.StatusCode}
}

func lostToken(err error, mayBeDone bool) error {
	message := fmt.Sprintf("no answer from the authorization server: %v", err)
	if mayBeDone {
		return &UnknownOutcomeError{Message: message, Err: err}
	}
	return &ConnectionError{Message: message, Err: err}
}

func randomText(bytes int) string {
	random := make([]byte, bytes)
	_, _ = rand.Read(random)
	return base64.RawURLEncoding.EncodeToString(random)
}
