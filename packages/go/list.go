package payhook

import (
	"context"
	"iter"
	"maps"
	"net/url"
	"strconv"
)

// Page is a page of a list with its exact total.
type Page[Record any] struct {
	Data       []Record   `json:"data"`
	Pagination Pagination `json:"pagination"`
}

const iteratedPerPage = 100

// all gives every record of a list. Each page starts after the last record of the previous one, so that records added or deleted
// meanwhile cause neither repeats nor gaps. Without Sort, it goes in the order in which new records come last. It ends with an error
// if a request fails.
func all[Record any](ctx context.Context, calls *calls, first request, order string, options []CallOption) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		request := first
		request.query = firstQuery(first.query, order)
		for {
			page, err := record[Page[Record]](ctx, calls, request, options)
			if err != nil {
				var none Record
				yield(none, err)
				return
			}
			for _, one := range page.Data {
				if !yield(one, nil) {
					return
				}
			}
			if page.Pagination.Next == nil {
				return
			}
			request.query = maps.Clone(request.query)
			request.query.Del("page")
			request.query.Set("after", *page.Pagination.Next)
		}
	}
}

func firstQuery(given url.Values, order string) url.Values {
	query := maps.Clone(given)
	if query == nil {
		query = url.Values{}
	}
	if !query.Has("per_page") {
		query.Set("per_page", strconv.Itoa(iteratedPerPage))
	}
	if !query.Has("after") {
		if !query.Has("page") {
			query.Set("page", "1")
		}
		if !query.Has("sort") && order != "" {
			query.Set("sort", order)
		}
	}
	return query
}
