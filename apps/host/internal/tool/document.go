package tool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
)

// property is one argument of a JSON Schema.
type property struct {
	Type        string
	Description string
	Enum        []string
	Items       *struct{ Properties map[string]property }
}

// Document renders the reference of the tools in Markdown, by group.
func Document(all []Definition) (string, error) {
	var b strings.Builder
	b.WriteString("# Tools\n\nThis page lists the tools of the agent, for people who write rules and agent definitions. It is generated from the\nregistry in `apps/host/internal/tool`.\n" +
		"`scorel tool list --json` prints the same with JSON Schemas, `scorel tool run NAME --args JSON` runs one by hand.\n")
	for _, group := range Toolsets() {
		var members []Definition
		for _, d := range all {
			if d.Toolset == group {
				members = append(members, d)
			}
		}
		if len(members) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## Group `%s`\n", group)
		for _, d := range members {
			if err := documentTool(&b, d); err != nil {
				return "", err
			}
		}
	}
	return b.String(), nil
}

func documentTool(b *strings.Builder, d Definition) error {
	var schema struct {
		Properties map[string]property
		Required   []string
	}
	if err := json.Unmarshal(d.Spec.Parameters, &schema); err != nil {
		return fmt.Errorf("the schema of %s: %w", d.Spec.Name, err)
	}
	asks := "Does not ask."
	switch d.Risk {
	case agent.RiskWrite:
		asks = "Asks first."
	case agent.RiskNote:
		asks = "Does not ask, unless a rule says so. Denied in plan mode."
	}
	if d.Subject != "" {
		asks += fmt.Sprintf(" Rules are about its `%s`.", d.Subject)
	}
	fmt.Fprintf(b, "\n### `%s`\n\n%s\n\n%s\n\n| argument | type | |\n|---|---|---|\n", d.Spec.Name, asks, strings.TrimSpace(d.Spec.Description))
	documentArguments(b, "", schema.Properties, schema.Required)
	return nil
}

func documentArguments(b *strings.Builder, prefix string, properties map[string]property, required []string) {
	names := slices.SortedFunc(maps.Keys(properties), func(x, y string) int {
		first := func(name string) int {
			if slices.Contains(required, name) {
				return 0
			}
			return 1
		}
		return cmp.Or(first(x)-first(y), cmp.Compare(x, y))
	})
	for _, name := range names {
		p := properties[name]
		about := p.Description
		if slices.Contains(required, name) {
			about = "Required. " + about
		}
		if len(p.Enum) > 0 {
			about += " One of `" + strings.Join(p.Enum, "`, `") + "`."
		}
		fmt.Fprintf(b, "| `%s%s` | %s | %s |\n", prefix, name, p.Type, strings.ReplaceAll(about, "|", `\|`))
		if p.Items != nil {
			documentArguments(b, prefix+name+"[].", p.Items.Properties, nil)
		}
	}
}
