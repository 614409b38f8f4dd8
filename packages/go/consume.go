package payhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// ConsumeOptions say how ConsumeEvents claims.
type ConsumeOptions struct {
	// The most events that are handled at once, from 1 to 100; 0 = 10.
	Limit int64
	// The time of a lease in whole seconds, up to an hour, which is extended while the handler works; 0 = a minute.
	Lease time.Duration
	// A name of yours for who claims, shown in the log.
	Consumer string
	// Called when a request failed that the loop survives: the server is away or fails, or a result was lost. It may be called concurrently.
	OnTrouble func(error)
}

const (
	waitSeconds = 20
	// how long the server may be silent: longer than it waits for an event
	consumeTimeout    = time.Minute
	firstConsumePause = 500 * time.Millisecond
	mostConsumePause  = 30 * time.Second
	mostErrorText     = 1000
)

// Consumer handles an event of a pull endpoint. claimed has the body as it was signed, its headers and the attempt.
type Consumer func(ctx context.Context, event *ReceivedEvent, claimed *ClaimedEvent) error

// ConsumeEvents claims the events of a pull endpoint and calls handle for each, concurrently, until ctx ends; it then returns nil. An event
// whose handler returns nil is acknowledged as delivered. If it returns an error, the attempt has failed with its message, and the event comes again by the
// schedule. Events are handled at least once: a handler must recognise an ID that it has had.
//
// The end of ctx does not end the context of a handler: events in progress are finished and acknowledged first. The credentials of the client
// are a key of the account or the token of the endpoint. It returns an *APIError if the API refuses, such as resource_missing or
// endpoint_disabled; while the server is away, stops or fails, it tries again.
func (client *Client) ConsumeEvents(ctx context.Context, endpoint string, handle Consumer, options ConsumeOptions) error {
	if options.Limit == 0 {
		options.Limit = 10
	}
	if options.Lease == 0 {
		options.Lease = time.Minute
	}
	if options.OnTrouble == nil {
		options.OnTrouble = func(error) {}
	}
	body := &ClaimWebhookEventsBody{Limit: &options.Limit, LeaseSeconds: Ptr(wholeSeconds(options.Lease)), WaitSeconds: Ptr(int64(waitSeconds))}
	if options.Consumer != "" {
		body.Consumer = &options.Consumer
	}
	pause := firstConsumePause
	for ctx.Err() == nil {
		// a claim whose answer is lost comes again by the schedule, so it is not repeated
		claim, err := client.WebhookEndpoints.Claim(ctx, endpoint, body, Retries(0), Timeout(consumeTimeout))
		if err == nil {
			err = client.workOn(context.WithoutCancel(ctx), endpoint, claim.Items, handle, options)
		}
		if err == nil {
			pause = firstConsumePause
			continue
		}
		if ctx.Err() != nil {
			return nil
		}
		refused := (*APIError)(nil)
		// a server that stops, or whose disk is full, recovers
		if errors.As(err, &refused) && refused.Status < http.StatusInternalServerError && refused.Status != http.StatusTooManyRequests {
			return err
		}
		if invalid := (*InvalidIDError)(nil); errors.As(err, &invalid) {
			return err
		}
		options.OnTrouble(err)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, mostConsumePause)
	}
	return nil
}

func wholeSeconds(duration time.Duration) int64 { return int64(duration / time.Second) }

// workOn handles the events of a claim and acknowledges each as it ends. It returns the first error of an acknowledgement.
func (client *Client) workOn(ctx context.Context, endpoint string, events []ClaimedEvent, handle Consumer, options ConsumeOptions) error {
	failures := make([]error, len(events))
	var working sync.WaitGroup
	for index := range events {
		working.Add(1)
		go func() {
			defer working.Done()
			failures[index] = client.workOnOne(ctx, endpoint, &events[index], handle, options)
		}()
	}
	working.Wait()
	for _, err := range failures {
		if err != nil {
			return err
		}
	}
	return nil
}

func (client *Client) workOnOne(ctx context.Context, endpoint string, claimed *ClaimedEvent, handle Consumer, options ConsumeOptions) error {
	extending, end := context.WithCancel(ctx)
	go client.extendUntilDone(extending, endpoint, claimed, options)
	var event ReceivedEvent
	err := json.Unmarshal([]byte(claimed.Body), &event)
	if err == nil {
		err = handle(ctx, &event, claimed)
	}
	end()
	item := AcknowledgeWebhookEventsBodyItemsItem{ID: claimed.ID, LeaseID: claimed.LeaseID, Status: AcknowledgementStatusDelivered}
	if err != nil {
		item.Status, item.Error = AcknowledgementStatusFailed, Ptr(failureText(err))
	}
	body := AcknowledgeWebhookEventsBody{Items: []AcknowledgeWebhookEventsBodyItemsItem{item}}
	_, err = client.WebhookEndpoints.Acknowledge(ctx, endpoint, body)
	return err
}

func (client *Client) extendUntilDone(ctx context.Context, endpoint string, claimed *ClaimedEvent, options ConsumeOptions) {
	ticker := time.NewTicker(options.Lease / 2)
	defer ticker.Stop()
	items := []ExtendWebhookLeasesBodyItemsItem{{ID: claimed.ID, LeaseID: claimed.LeaseID}}
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			body := ExtendWebhookLeasesBody{Items: items, LeaseSeconds: wholeSeconds(options.Lease)}
			if _, err := client.WebhookEndpoints.Extend(ctx, endpoint, body); err != nil && ctx.Err() == nil {
				options.OnTrouble(fmt.Errorf("payhook: the lease of %s was not extended: %w", claimed.ID, err))
			}
		}
	}
}

// failureText is the message of an error, as long as the API takes it, and never empty.
func failureText(err error) string {
	text := []rune(err.Error())
	if len(text) == 0 {
		return "the handler failed"
	}
	return string(text[:min(len(text), mostErrorText)])
}
