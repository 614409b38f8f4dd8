package payhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// watch ends an attempt when the server sends nothing for too long, and records whether a connection was made.
type watch struct {
	ctx         context.Context
	cancel      context.CancelCauseFunc
	timer       *time.Timer
	timeout     time.Duration
	isConnected atomic.Bool
}

func newWatch(parent context.Context, timeout time.Duration) *watch {
	ctx, cancel := context.WithCancelCause(parent)
	watch := &watch{cancel: cancel, timeout: timeout}
	watch.ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { watch.isConnected.Store(true) },
	})
	watch.timer = time.AfterFunc(timeout, func() {
		cancel(fmt.Errorf("the server sent nothing for %v", timeout))
	})
	return watch
}

func (watch *watch) end() {
	watch.timer.Stop()
	watch.cancel(nil)
}

// lost describes an attempt without a complete response.
func (watch *watch) lost(base string, err error) failure {
	if cause := context.Cause(watch.ctx); cause != nil && errors.Is(err, context.Canceled) {
		err = cause
	}
	return failure{
		err:      &ConnectionError{Message: fmt.Sprintf("no answer from %s: %v", base, err), Err: err},
		isUnread: !watch.isConnected.Load(),
		mayPass:  true,
	}
}

type watchedReader struct {
	watch *watch
	io.ReadCloser
	isResponse bool
}

// Read restarts the time. Between the reads of a response it does not run: a caller that pauses is not a silent server.
func (reader *watchedReader) Read(buffer []byte) (int, error) {
	reader.watch.timer.Reset(reader.watch.timeout)
	count, err := reader.ReadCloser.Read(buffer)
	if reader.isResponse {
		reader.watch.timer.Stop()
		if cause := context.Cause(reader.watch.ctx); err != nil && err != io.EOF && cause != nil {
			err = cause
		}
	}
	return count, err
}

func (reader *watchedReader) Close() error {
	err := reader.ReadCloser.Close()
	if reader.isResponse {
		reader.watch.end()
	}
	return err
}

func (watch *watch) body(body io.ReadCloser) io.ReadCloser {
	watch.timer.Stop()
	return &watchedReader{watch, body, true}
}

func (watch *watch) upload(file io.ReadCloser) io.ReadCloser {
	return &watchedReader{watch, file, false}
}
