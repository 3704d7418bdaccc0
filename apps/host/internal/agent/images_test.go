package agent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/session"
)

func picture(size int) session.Block {
	return session.Block{Type: session.BlockImage, MimeType: "image/png", Data: strings.Repeat("A", size), Width: 800, Height: 600}
}

func shown(messages []session.Message) string {
	var b strings.Builder
	for _, m := range messages {
		for _, block := range m.Content {
			switch {
			case block.Type == session.BlockImage:
				b.WriteByte('i')
			case strings.HasPrefix(block.Text, "[An image (image/png, 800 x 600 pixels)"):
				b.WriteByte('-')
			default:
				b.WriteString(block.Text)
			}
		}
	}
	return b.String()
}

// One message with an image for each size, a note, and a prompt with an image.
func withImages(sizes ...int) []session.Message {
	messages := []session.Message{{Role: session.RoleUser, Content: session.Content{session.Text("p")}}}
	for i, size := range sizes {
		messages = append(messages, session.Message{Role: session.RoleToolResult, ToolCallID: fmt.Sprint(i), Content: session.Content{picture(size)}})
	}
	return append(messages, session.Message{Role: session.RoleUser, Content: session.Content{session.Text("p"), picture(8)}},
		session.Message{Role: session.RoleUser, Content: session.Content{session.Text("n")}, Note: true})
}

func TestImagesThatTheModelSees(t *testing.T) {
	many := func(n, size int) []int {
		sizes := make([]int, n)
		for i := range sizes {
			sizes[i] = size
		}
		return sizes
	}
	for name, c := range map[string]struct {
		images bool
		sizes  []int
		want   string
	}{
		"some":                      {true, many(3, 8), "piiipin"},
		"a model of text":           {false, many(3, 8), "p---p-n"},
		"as many as there may be":   {true, many(maxImages-1, 8), "p" + strings.Repeat("i", maxImages-1) + "pin"},
		"one too many":              {true, many(maxImages, 8), "p" + strings.Repeat("-", 10) + strings.Repeat("i", maxImages-10) + "pin"},
		"a batch later":             {true, many(maxImages+9, 8), "p" + strings.Repeat("-", 10) + strings.Repeat("i", maxImages-1) + "pin"},
		"and one more":              {true, many(maxImages+10, 8), "p" + strings.Repeat("-", 20) + strings.Repeat("i", maxImages-10) + "pin"},
		"too large together":        {true, many(3, 5<<20), "p--ipin"},
		"only the prompt's is left": {true, many(2, 30<<20), "p--pin"},
	} {
		t.Run(name, func(t *testing.T) {
			messages := withImages(c.sizes...)
			r := &runner{Turn: Turn{Images: c.images}, history: newHistory(messages)}
			if got := shown(r.seenImages(messages)); got != c.want {
				t.Errorf("the model sees %s, want %s", got, c.want)
			}
			if strings.Contains(shown(messages), "-") {
				t.Error("the history was changed")
			}
		})
	}
}

func TestOldImageResultsArePruned(t *testing.T) {
	r := &runner{history: newHistory(append(withImages(8, 8, 8), session.Message{Role: session.RoleAssistant, Content: session.Content{session.Text("a")}}))}
	if r.history.size.images != 4 || contentTokens(session.Content{picture(8)}) != 640 {
		t.Errorf("%d images of %d tokens", r.history.size.images, contentTokens(session.Content{picture(8)}))
	}
	if !r.prune(1000) || r.history.size.images != 2 {
		t.Errorf("%d images are left, want the newest result and the prompt's", r.history.size.images)
	}
}
