package monitortest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// token is one of PromQL's, as far as our expressions need them: a text, a duration
// in brackets, a number or duration, a name, a comparison, or a sign.
var token = regexp.MustCompile(`^(?:"(?:[^"\\]|\\.)*"|\[[0-9]+[smhd]\]|[0-9.]+[smhd]?|[A-Za-z_:][A-Za-z0-9_:]*|[=!<>]=|=~|!~|[-+*/%^<>=(){},])`)

// Words of PromQL that are no metrics.
const (
	operators  = " and or unless offset bool "
	groupings  = " by without on ignoring group_left group_right "
	aggregates = " sum min max avg count topk bottomk quantile "
	functions  = " rate increase irate delta max_over_time min_over_time avg_over_time scalar time abs clamp_min clamp_max histogram_quantile "
)

// metricsOf returns the metrics in an expression, or what is wrong with it.
func metricsOf(text string) ([]string, error) {
	tokens, err := split(text)
	if err != nil {
		return nil, err
	}
	var names, open []string // open brackets, with the word before each
	for i, tok := range tokens {
		before, after := at(tokens, i-1), at(tokens, i+1)
		inside := at(open, len(open)-1)
		switch {
		case tok == "(" || tok == "{":
			open = append(open, before+tok)
		case tok == ")" || tok == "}":
			if !strings.HasSuffix(inside, map[string]string{")": "(", "}": "{"}[tok]) {
				return nil, fmt.Errorf("%q closes nothing", tok)
			}
			open = open[:len(open)-1]
		case tok[0] == '[':
			if !slices.Contains([]string{"}", at(names, len(names)-1)}, before) {
				return nil, fmt.Errorf("%s follows no metric", tok)
			}
		case !isName(tok):
		case strings.HasSuffix(inside, "{"):
			if err := checkMatcher(tok, after, at(tokens, i+2)); err != nil {
				return nil, err
			}
		case isOneOf(strings.TrimSuffix(inside, "("), groupings), isOneOf(tok, operators), isOneOf(tok, groupings):
		case isOneOf(tok, aggregates) && (after == "(" || isOneOf(after, groupings)), isOneOf(tok, functions) && after == "(":
		case after == "(":
			return nil, fmt.Errorf("there is no function %s", tok)
		default:
			names = append(names, tok)
		}
	}
	if len(open) > 0 {
		return nil, fmt.Errorf("%d brackets are left open", len(open))
	}
	return names, nil
}

func split(text string) ([]string, error) {
	var out []string
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		tok := token.FindString(rest)
		if tok == "" {
			return nil, fmt.Errorf("%q is nothing of PromQL", rest)
		}
		out = append(out, tok)
		rest = rest[len(tok):]
	}
	return out, nil
}

func checkMatcher(label, operator, value string) error {
	if !slices.Contains([]string{"=", "!=", "=~", "!~"}, operator) || !strings.HasPrefix(value, `"`) {
		return fmt.Errorf("label %s is not compared with a text", label)
	}
	if strings.HasSuffix(operator, "~") {
		if _, err := regexp.Compile(strings.Trim(value, `"`)); err != nil {
			return fmt.Errorf("label %s: %w", label, err)
		}
	}
	return nil
}

func at(list []string, i int) string {
	if i < 0 || i >= len(list) {
		return ""
	}
	return list[i]
}

func isName(tok string) bool {
	return tok[0] == '_' || tok[0] == ':' || 'a' <= tok[0]|0x20 && tok[0]|0x20 <= 'z'
}

func isOneOf(word, list string) bool {
	return word != "" && strings.Contains(list, " "+word+" ")
}

// checkExpr holds an expression to be PromQL about metrics that exist.
func checkExpr(t *testing.T, where, text string, known map[string]bool) {
	t.Helper()
	names, err := metricsOf(text)
	if err != nil || len(names) == 0 {
		t.Errorf("%s: %q: %d metrics, %v", where, text, len(names), err)
	}
	for _, name := range names {
		if !known[name] {
			t.Errorf("%s: %q is about %s, which no relay shows", where, text, name)
		}
	}
}

func TestExpressionsAreRead(t *testing.T) {
	for text, want := range map[string]string{
		`sum by (reason) (rate(a_total{reason=~"x|y",i="1"}[5m])) > 0.5 + b offset 10m`: "a_total b",
		`a{i=~".*"} / on(instance) group_left b and c == 0`:                             "a b c",
		`max_over_time(a[1d]) - time() < 14 * 86400`:                                    "a",
	} {
		if names, err := metricsOf(text); err != nil || strings.Join(names, " ") != want {
			t.Errorf("%s: %q, %v", text, names, err)
		}
	}
	for _, text := range []string{
		`sum(a`, `sum a)`, `rat(a[5m])`, `a{x=1}`, `a{x=~"("}`, `a ! b`, `rate(5[5m])`, `sum(a}`, `a["5m"]`, `a #`,
	} {
		if names, err := metricsOf(text); err == nil {
			t.Errorf("%s was taken: %q", text, names)
		}
	}
}
