package push

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/scorel/scorel/packages/protocol/visible"
)

// maxAfter bounds how long a server can have the host wait.
const maxAfter = 6 * time.Hour

// judge reads the answer of a server.
func judge(answer *http.Response, now time.Time) Result {
	status := answer.StatusCode
	if status >= 200 && status < 300 {
		return Result{}
	}
	err := fmt.Errorf("the server answered %d%s", status, said(answer.Body))
	switch {
	case status == http.StatusNotFound || status == http.StatusGone:
		return Result{Err: errors.New("the subscription has ended"), Ended: true}
	case status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status >= 500:
		return Result{Err: err, Retry: true, After: retryAfter(answer.Header.Get("Retry-After"), now)}
	case status >= 300 && status < 400:
		return Result{Err: fmt.Errorf("the server answered %d: redirects are not followed, so use the final address", status)}
	}
	return Result{Err: err}
}

// retryAfter reads how long a server wants the host to wait, in either form of HTTP.
func retryAfter(value string, now time.Time) time.Duration {
	var after time.Duration
	if seconds, err := strconv.ParseInt(strings.TrimSpace(value), 10, 32); err == nil {
		after = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		after = at.Sub(now)
	}
	return min(max(after, 0), maxAfter)
}

// said returns the beginning of what a server says about a refusal, as one line.
func said(body io.Reader) string {
	text, _ := io.ReadAll(io.LimitReader(body, maxAnswer)) // what was read is all there is to show
	line := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(text), " "))
	if line = strings.Join(strings.Fields(line), " "); line == "" {
		return ""
	}
	return ": " + Cut(line, 120)
}

// Cut shortens a text to at most some bytes, between two characters.
func Cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return visible.Head(s, most-len("…")) + "…"
}
