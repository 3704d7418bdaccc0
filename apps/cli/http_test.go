package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdHTTP is `http STATUS METHOD URL TOKEN [BODY]`: it sends a request as a user's script
// would, and prints the response; of a stream, everything up to the event that BODY names.
func cmdHTTP(ts *testscript.TestScript, _ *stage, args []string) {
	wantArgs(ts, args, 4)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	body := strings.Join(args[4:], " ")
	r, err := http.NewRequestWithContext(ctx, args[1], "http://"+args[2], strings.NewReader(body))
	ts.Check(err)
	r.Header.Set("Authorization", "Bearer "+args[3])
	r.Header.Set("Content-Type", "application/json")
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	ts.Check(err)
	defer func() { _ = response.Body.Close() }()
	text, err := readUpTo(response.Body, body, response.Header.Get("Content-Type") == "text/event-stream")
	ts.Check(err)
	fmt.Fprint(ts.Stdout(), text)
	if got := strconv.Itoa(response.StatusCode); got != args[0] {
		ts.Fatalf("%s answered %s, want %s\n%s", args[2], got, args[0], text)
	}
}

func readUpTo(body io.Reader, event string, stream bool) (string, error) {
	var text strings.Builder
	buffer := make([]byte, 4096)
	for {
		n, err := body.Read(buffer)
		text.Write(buffer[:n])
		if _, after, begun := strings.Cut(text.String(), "event: "+event); stream && begun && strings.Contains(after, "\n\n") {
			return text.String(), nil // the event is complete
		}
		if err == io.EOF {
			return text.String(), nil
		}
		if err != nil {
			return "", fmt.Errorf("reading the answer: %w", err)
		}
	}
}
