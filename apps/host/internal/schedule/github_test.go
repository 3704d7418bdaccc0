package schedule

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
)

// ghData is the file with what the program that stands for gh knows. A test writes it.
const ghData = "SCOREL_TEST_GH"

// hub is that file.
type hub struct {
	LoggedOut bool
	Lists     map[string][]item // by the path of the list
	Calls     []string
}

// runGH stands for gh: it takes what `gh api` documents, with the limits of the REST API, and
// returns its exit code.
func runGH(path string, args []string) int {
	var h hub
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &h)
	}
	if err != nil {
		panic(err)
	}
	if h.LoggedOut {
		fmt.Fprintln(os.Stderr, "To get started with GitHub CLI, please run:  gh auth login")
		return 4
	}
	if len(args) != 6 || !slices.Equal(args[:5], []string{"api", "--method", "GET", "-H", "Accept: application/vnd.github+json"}) || os.Getenv("GH_PROMPT_DISABLED") == "" {
		fmt.Fprintln(os.Stderr, "unknown flag")
		return 1
	}
	at, query, _ := strings.Cut(args[5], "?")
	values, err := url.ParseQuery(query)
	size, sizeErr := strconv.Atoi(values.Get("per_page"))
	page, pageErr := strconv.Atoi(values.Get("page"))
	list, known := h.Lists[at]
	issues := strings.HasSuffix(at, "/issues")
	if !known {
		fmt.Println(`{"message":"Not Found"}`)
		fmt.Fprintln(os.Stderr, "gh: Not Found (HTTP 404)")
		return 1
	}
	if err != nil || sizeErr != nil || pageErr != nil || size < 1 || size > 100 || page < 1 || values.Get("sort") != "created" || values.Get("direction") != "desc" || issues != (values.Get("state") == "all") {
		fmt.Fprintln(os.Stderr, "gh: Validation Failed (HTTP 422)")
		return 1
	}
	slices.SortStableFunc(list, func(a, b item) int { return b.CreatedAt.Compare(a.CreatedAt) })
	from := min((page-1)*size, len(list))
	answer, err := json.Marshal(append([]item{}, list[from:min(from+size, len(list))]...))
	if err != nil {
		panic(err)
	}
	fmt.Println(string(answer))
	return 0
}

// gh makes a scheduler's world with that program in place of gh.
func (w *world) gh() (write func(hub)) {
	w.t.Helper()
	path := filepath.Join(w.t.TempDir(), "hub.json")
	program, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	w.get = GH{Program: program, Environ: func() []string { return append(os.Environ(), ghData+"="+path, "GORACE=atexit_sleep_ms=10") }}.Get
	w.restart()
	return func(h hub) {
		data, err := json.Marshal(h)
		if err == nil {
			err = os.WriteFile(path, data, 0o600)
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
}

func said(id int64, at, login, body string) item {
	created, err := time.Parse(time.RFC3339, at)
	if err != nil {
		panic(err)
	}
	one := item{ID: id, CreatedAt: created, Body: body, URL: fmt.Sprintf("https://github.com/o/r/issues/%d", id)}
	one.User.Login = login
	return one
}

// emptyHub is a repository without anything.
func emptyHub() hub {
	return hub{Lists: map[string][]item{"repos/o/r/issues": {}, "repos/o/r/issues/comments": {}, "repos/o/r/pulls/comments": {}}}
}

// TestGitHub: what authors of the list write with the phrase counts once, over many pages and a
// restart; what others write, what has no phrase and what is old does not.
func TestGitHub(t *testing.T) {
	w := newWorld(t, "2026-11-23T02:00:00Z")
	write := w.gh()
	h := emptyHub()
	h.Lists["repos/o/r/issues"] = []item{said(1, "2026-11-23T01:59:00Z", "anna", "@scorel before it began")}
	write(h)
	id := w.add("mentions", api.ScheduleSpec{When: api.ScheduleWhen{GitHub: &api.ScheduleGitHub{Repository: "o/r", Authors: []string{"Anna"}, Phrase: "@scorel"}}})
	minute := 0
	look := func() {
		t.Helper()
		minute++
		w.at(fmt.Sprintf("2026-11-23T02:%02d:00Z", minute))
		w.settled(id)
	}
	look()
	w.want(id)
	comments := []item{
		said(10, "2026-11-23T02:01:10Z", "mallory", "@scorel I am not on the list. Anna wrote: @scorel"),
		said(11, "2026-11-23T02:01:20Z", "anna", "no phrase"),
		said(12, "2026-11-23T02:01:30Z", "anna", "please @Scorel look"),
		said(13, "2026-11-23T02:01:40Z", "annab", "@scorel a longer name"),
	}
	for i := range int64(250) {
		comments = append(comments, said(100+i, "2026-11-23T02:01:50Z", "mallory", "@scorel"))
	}
	h.Lists["repos/o/r/issues/comments"] = comments
	write(h)
	look()
	runs := w.want(id, api.RunRunning)
	if prompt := w.started[0].Prompt; !w.started[0].Outside || !strings.Contains(prompt, "please @Scorel look") || strings.Contains(prompt, "mallory") {
		t.Errorf("the prompt is %q", prompt)
	}
	w.ends(runs[0].ID, Progress{State: api.RunSucceeded})
	w.want(id, api.RunSucceeded)
	look()
	w.restart()
	look()
	w.want(id, api.RunSucceeded)
	h.Lists["repos/o/r/pulls/comments"] = []item{said(12, "2026-11-23T02:04:10Z", "anna", "@scorel in a review")} // the same id in another list
	write(h)
	look()
	w.want(id, api.RunRunning, api.RunSucceeded)
}

// TestMoreMentionsThanCanWait: those that do not fit are found later, none is lost.
func TestMoreMentionsThanCanWait(t *testing.T) {
	w := newWorld(t, "2026-11-23T02:00:00Z")
	write := w.gh()
	h := emptyHub()
	const all = maxQueue + 4
	for i := range int64(all) {
		h.Lists["repos/o/r/issues"] = append(h.Lists["repos/o/r/issues"], said(i, fmt.Sprintf("2026-11-23T02:00:%02dZ", i+1), "anna", "@scorel"))
	}
	write(h)
	id := w.add("mentions", api.ScheduleSpec{When: api.ScheduleWhen{GitHub: &api.ScheduleGitHub{Repository: "o/r", Authors: []string{"anna"}, Phrase: "@scorel"}}})
	w.runAll(id, all)
}

// TestEnabledDuringALook: what a look finds that began before the schedule was enabled anew does
// not count.
func TestEnabledDuringALook(t *testing.T) {
	w := newWorld(t, "2026-11-23T02:00:00Z")
	asked, goOn := make(chan struct{}), make(chan struct{})
	w.get = func(_ context.Context, path string) ([]byte, error) {
		if strings.HasPrefix(path, "repos/o/r/issues?") {
			asked <- struct{}{}
			<-goOn
			return json.Marshal([]item{said(1, "2026-11-23T02:00:30Z", "anna", "@scorel")})
		}
		return []byte("[]"), nil
	}
	w.restart()
	id := w.add("mentions", api.ScheduleSpec{When: api.ScheduleWhen{GitHub: &api.ScheduleGitHub{Repository: "o/r", Authors: []string{"anna"}, Phrase: "@scorel"}}})
	<-asked
	w.setClock("2026-11-23T02:01:00Z")
	w.inside(func() {
		for _, enabled := range []bool{false, true} {
			w.change(id, func(r *record) { r.enable(enabled, w.clock().UnixMilli()) })
		}
	})
	goOn <- struct{}{}
	<-asked // the next look
	goOn <- struct{}{}
	w.settled(id)
	w.want(id)
}

// TestGitHubFails: why it cannot be read is shown, and goes away.
func TestGitHubFails(t *testing.T) {
	w := newWorld(t, "2026-11-23T02:00:00Z")
	write := w.gh()
	write(hub{LoggedOut: true})
	id := w.add("mentions", api.ScheduleSpec{When: api.ScheduleWhen{GitHub: &api.ScheduleGitHub{Repository: "o/r", Authors: []string{"anna"}, Phrase: "@scorel"}}})
	want := func(at, problem string) {
		t.Helper()
		w.at(at)
		w.settled(id)
		w.inside(func() {
			if got := w.problems[id]; !strings.Contains(got, problem) || problem == "" && got != "" {
				t.Errorf("the problem is %q, want %q", got, problem)
			}
		})
	}
	want("2026-11-23T02:01:00Z", "gh auth login")
	write(hub{})
	want("2026-11-23T02:02:00Z", "gh failed: gh: Not Found (HTTP 404)")
	write(emptyHub())
	want("2026-11-23T02:10:00Z", "")
	w.get = GH{Program: "gh-that-is-not-here", Environ: os.Environ}.Get
	w.restart()
	want("2026-11-23T02:30:00Z", "gh is not installed")
}
