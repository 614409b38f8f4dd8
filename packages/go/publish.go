package payhook

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

const (
	mostEvents = 1000
	// bytes of the events of a request: less than the 16 MiB that the server accepts
	mostBytes = 15 << 20
)

// publishAll publishes events in requests of at most 1,000 events and 15 MiB, one after the other. With an idempotency key, each of
// several requests has a key of its own, which is the same when the call is repeated.
func publishAll(ctx context.Context, calls *calls, request request, body PublishEventBatchBody, options []CallOption) (*EventBatch, error) {
	batches, err := batchesOf(body.Events)
	if err != nil {
		return nil, err
	}
	var given call
	for _, option := range options {
		option(&given)
	}
	all := &EventBatch{Object: "event_batch"}
	for number, batch := range batches {
		part, keyed := body, options
		part.Events = batch
		request.body = part
		if given.key != "" && len(batches) > 1 {
			keyed = append(slices.Clone(options), IdempotencyKey(fmt.Sprintf("%s-%d", given.key, number)))
		}
		result, err := record[EventBatch](ctx, calls, request, keyed)
		if err != nil {
			return nil, err
		}
		before := int64(len(all.Items))
		for _, item := range result.Items {
			item.Index += before
			all.Items = append(all.Items, item)
		}
	}
	return all, nil
}

// batchesOf divides events into groups that each fit into a request; there is at least one, which may be empty.
func batchesOf(events []PublishEventBody) ([][]PublishEventBody, error) {
	batches := [][]PublishEventBody{{}}
	size := 0
	for _, event := range events {
		text, err := json.Marshal(event)
		if err != nil {
			return nil, fmt.Errorf("payhook: the event is not JSON: %w", err)
		}
		last := len(batches) - 1
		if count := len(batches[last]); count > 0 && (count == mostEvents || size+len(text)+1 > mostBytes) {
			batches = append(batches, nil)
			last, size = last+1, 0
		}
		batches[last] = append(batches[last], event)
		size += len(text) + 1
	}
	return batches, nil
}
