package payhook

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
)

// Upload is a file to send, made by UploadBytes, UploadFile or UploadReader.
type Upload struct {
	open   func() (io.ReadCloser, error)
	size   int64
	isOnce bool
}

// UploadBytes sends these bytes.
func UploadBytes(content []byte) Upload {
	return Upload{
		open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
		size: int64(len(content)),
	}
}

// UploadFile sends the file at a path, which is opened by each attempt.
func UploadFile(path string) Upload {
	return Upload{open: func() (io.ReadCloser, error) { return os.Open(path) }, size: -1}
}

// UploadReader sends what a reader gives. It can be read only once, so the request is not sent again.
func UploadReader(reader io.Reader) Upload {
	return Upload{open: func() (io.ReadCloser, error) { return io.NopCloser(reader), nil }, size: -1, isOnce: true}
}

func (upload Upload) isRepeatable() bool { return !upload.isOnce }

// Download is a file being downloaded. Read it to its end or close it: until then it holds its connection.
type Download struct {
	// The file name from the server, without a folder; empty if there is none.
	Name string
	// The revision of the payout in the file, for IfMatch; nil if the file is not of one payout.
	Revision *int64
	// The numbers of affiliates that a payment file leaves out, whose amount exceeds the provider's limit for one payment, and who are
	// also paid by another downloaded payment file that differs; nil for other files.
	Skipped, AboveLimit, InOtherFiles *int64
	// The file set (pfs_…) that a payment file belongs to, and the previously downloaded one that it replaces; empty if there is none.
	FileSet, ReplacesFileSet string

	body io.ReadCloser
}

// Read reads the content. It fails with *ConnectionError if the content is cut off; after io.EOF it is complete.
func (file *Download) Read(buffer []byte) (int, error) {
	count, err := file.body.Read(buffer)
	if err != nil && err != io.EOF {
		err = &ConnectionError{Message: fmt.Sprintf("the download was cut off: %v", err), Err: err}
	}
	return count, err
}

// Close ends the download.
func (file *Download) Close() error { return file.body.Close() }

// Save writes the content to a file, which appears when it is complete, and closes the download.
func (file *Download) Save(path string) (err error) {
	defer file.Close()
	part := path + ".part"
	target, err := os.Create(part)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(part)
		}
	}()
	if _, err = io.Copy(target, file); err != nil {
		_ = target.Close()
		return err
	}
	if err = target.Close(); err != nil {
		return err
	}
	return os.Rename(part, path)
}

var (
	fileName = regexp.MustCompile(`filename="([^"/\\]+)"`)
	revision = regexp.MustCompile(`^"(\d+)"$`)
	digits   = regexp.MustCompile(`^(\d+)$`)
)

func downloadOf(response *http.Response) *Download {
	number := func(name string, pattern *regexp.Regexp) *int64 {
		match := pattern.FindStringSubmatch(response.Header.Get(name))
		if match == nil {
			return nil
		}
		value, err := strconv.ParseInt(match[1], 10, 64)
		if err != nil {
			return nil
		}
		return &value
	}
	file := &Download{
		Revision:        number("ETag", revision),
		Skipped:         number("Payhook-Skipped-Affiliates", digits),
		AboveLimit:      number("Payhook-Affiliates-Above-Limit", digits),
		InOtherFiles:    number("Payhook-Affiliates-In-Other-Files", digits),
		FileSet:         response.Header.Get("Payhook-File-Set"),
		ReplacesFileSet: response.Header.Get("Payhook-Replaces-File-Set"),
		body:            response.Body,
	}
	if match := fileName.FindStringSubmatch(response.Header.Get("Content-Disposition")); match != nil {
		file.Name = match[1]
	}
	return file
}
