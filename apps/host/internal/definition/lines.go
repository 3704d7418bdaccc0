package definition

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// beforeHead is the number of lines before the front matter.
const beforeHead = 1

// lines maps fields of a front matter to the positions of their values.
type lines map[string]valueLines

// valueLines holds the line of a field and of each of its items.
type valueLines struct {
	field int
	items []itemLine
}

type itemLine struct {
	line int
	text string
}

// readLines finds the lines of a front matter; none if it cannot be parsed.
func readLines(head string, repaired bool) lines {
	if repaired {
		head = quoted(head) // quoting does not change line numbers
	}
	var document yaml.Node
	if yaml.Unmarshal([]byte(head), &document) != nil || len(document.Content) == 0 || document.Content[0].Kind != yaml.MappingNode {
		return nil
	}
	found, pairs := lines{}, document.Content[0].Content
	for i := 0; i+1 < len(pairs); i += 2 {
		key, value := pairs[i], pairs[i+1]
		entry := valueLines{field: key.Line + beforeHead}
		for _, node := range append([]*yaml.Node{value}, value.Content...) {
			if node.Kind == yaml.ScalarNode {
				entry.items = append(entry.items, itemLine{node.Line + beforeHead, node.Value})
			}
		}
		found[key.Value] = entry
	}
	return found
}

func (l lines) of(field, item string) int {
	entry := l[field]
	if item != "" {
		for _, candidate := range entry.items {
			if strings.Contains(candidate.text, item) {
				return candidate.line
			}
		}
	}
	return entry.field
}
