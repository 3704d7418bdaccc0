package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/atomicfile"
)

//go:embed todo.md
var todoDoc string

// Bounds of the list.
const (
	maxTodos     = 256
	maxTodoChars = 4000
	maxTodoID    = 64
)

// States of an item.
const (
	todoPending    = "pending"
	todoInProgress = "in_progress"
	todoCompleted  = "completed"
	todoCancelled  = "cancelled"
)

func todoStates() []string {
	return []string{todoPending, todoInProgress, todoCompleted, todoCancelled}
}

type todoTool struct{ *Set }

type todoItem struct {
	ID      string `json:"id"`
	Content string `json:"content"`
	Status  string `json:"status"`
}

// todoItems accepts a list, or a string that contains one, as some models send it.
type todoItems []todoItem

// UnmarshalJSON implements json.Unmarshaler.
func (t *todoItems) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		data = []byte(text)
	}
	var items []todoItem
	if err := json.Unmarshal(data, &items); err != nil {
		return errors.New(`the argument "todos" must be a list of {id, content, status}, all strings`)
	}
	*t = items
	return nil
}

type todoArgs struct {
	Todos *todoItems `json:"todos,omitempty"`
	Merge bool       `json:"merge,omitempty"`
}

func (todoTool) Spec() agent.ToolSpec {
	return spec("todo", todoDoc, `{
		"todos": {"type": "array", "description": "The items; without this the list is only shown.", "items": {
			"type": "object", "required": ["id", "content", "status"], "additionalProperties": false, "properties": {
				"id": {"type": "string", "description": "Short name of the item, the same in every call."},
				"content": {"type": "string", "description": "What to do."},
				"status": {"type": "string", "enum": ["pending", "in_progress", "completed", "cancelled"], "description": "Its progress."}}}},
		"merge": {"type": "boolean", "description": "Change and add items instead of replacing the list."}}`)
}

// Risk implements agent.Tool. The list belongs to the session, so no approval is needed.
func (todoTool) Risk() agent.Risk { return agent.RiskRead }

func (todoTool) Describe(call agent.Call) agent.Description {
	return agent.Description{Title: "Update the task list", Detail: string(call.Arguments)}
}

// todoList is the list of a session, stored in a file that outlives the process.
type todoList struct {
	dir string // "" stores no file

	mu     sync.Mutex
	loaded bool
	items  []todoItem
}

func (t todoTool) Run(_ context.Context, call agent.Call, _ func(string)) agent.Result {
	var args todoArgs
	if err := decodeArgs(call.Arguments, &args); err != nil {
		return agent.Failure("todo: %v.", err)
	}
	list := &t.todos
	list.mu.Lock()
	defer list.mu.Unlock()
	if err := list.load(); err != nil {
		return agent.Failure("todo: the list cannot be read: %v.", err)
	}
	if args.Todos != nil {
		items, err := merged(list.items, *args.Todos, args.Merge)
		if err != nil {
			return agent.Failure("todo: %v.", err)
		}
		if err := list.save(items); err != nil {
			return agent.Failure("todo: the list could not be saved: %v.", err)
		}
	}
	return list.result()
}

// merged validates the new items and adds them to the list. Of two with the same id the
// last one wins.
func merged(have, given []todoItem, merge bool) ([]todoItem, error) {
	var items []todoItem
	if merge {
		items = slices.Clone(have)
	}
	for _, item := range given {
		item.ID, item.Content = strings.TrimSpace(item.ID), strings.TrimSpace(item.Content)
		i := slices.IndexFunc(items, func(old todoItem) bool { return old.ID == item.ID })
		if i >= 0 && merge && item.Content == "" {
			item.Content = items[i].Content // only the status changes
		}
		if err := item.check(); err != nil {
			return nil, err
		}
		if i >= 0 {
			items[i] = item
		} else {
			items = append(items, item)
		}
	}
	if len(items) > maxTodos {
		return nil, fmt.Errorf("the list has %d items, the limit is %d; remove completed items", len(items), maxTodos)
	}
	return items, nil
}

func (i todoItem) check() error {
	switch {
	case i.ID == "" || len(i.ID) > maxTodoID:
		return fmt.Errorf("every item needs an id with 1 to %d bytes", maxTodoID)
	case i.Content == "" || utf8.RuneCountInString(i.Content) > maxTodoChars:
		return fmt.Errorf("item %q: the content must have 1 to %d characters", i.ID, maxTodoChars)
	case !slices.Contains(todoStates(), i.Status):
		return fmt.Errorf("item %q: the status must be one of %s", i.ID, strings.Join(todoStates(), ", "))
	}
	return nil
}

func (l *todoList) file() string { return filepath.Join(l.dir, "todo.json") }

func (l *todoList) load() error {
	if l.loaded || l.dir == "" {
		return nil
	}
	data, err := os.ReadFile(l.file())
	if err == nil {
		err = json.Unmarshal(data, &l.items)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	l.loaded = true
	return nil
}

func (l *todoList) save(items []todoItem) error {
	if l.dir != "" {
		data, err := json.Marshal(items)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(l.dir, 0o700); err != nil {
			return err
		}
		if err := atomicfile.Write(l.file(), data, 0o600); err != nil {
			return err
		}
	}
	l.items = items
	return nil
}

// open lists the open items; "" if there are none or the list cannot be read.
func (l *todoList) open() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.load() != nil {
		return ""
	}
	open := slices.DeleteFunc(slices.Clone(l.items), func(item todoItem) bool {
		return item.Status != todoPending && item.Status != todoInProgress
	})
	for i := range open {
		open[i].Content += " (" + open[i].Status + ")"
	}
	return bounded(open)
}

// maxReminder bounds the reminder of the list, in bytes.
const maxReminder = 8 << 10

// bounded renders as many items as fit.
func bounded(items []todoItem) string {
	text := ""
	for i, item := range items {
		row := rows([]todoItem{item})
		if len(text)+len(row) > maxReminder {
			return text + fmt.Sprintf("(%d more: todo shows them)\n", len(items)-i)
		}
		text += row
	}
	return text
}

// rows renders items for the model and for people.
func rows(items []todoItem) string {
	marks := map[string]string{todoPending: " ", todoInProgress: ">", todoCompleted: "x", todoCancelled: "-"}
	var b strings.Builder
	for _, item := range items {
		fmt.Fprintf(&b, "- [%s] %s. %s\n", marks[item.Status], item.ID, item.Content)
	}
	return b.String()
}

func (l *todoList) result() agent.Result {
	counts := map[string]int{}
	for _, item := range l.items {
		counts[item.Status]++
	}
	text := "The list is empty."
	if len(l.items) > 0 {
		text = fmt.Sprintf("%d items: %d pending, %d in progress, %d completed, %d cancelled.\n%s", len(l.items),
			counts[todoPending], counts[todoInProgress], counts[todoCompleted], counts[todoCancelled], rows(l.items))
	}
	result := agent.Success(text)
	result.Details = details(map[string]any{"todos": append([]todoItem{}, l.items...)})
	return result
}
